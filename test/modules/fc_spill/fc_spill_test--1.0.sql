\echo Use "CREATE EXTENSION fc_spill_test" to load this file. \quit

-- Spills so many records of up to so many bytes by so many processes, each
-- with so many kB, and reads them back; so many bounds cut ranges of keys into
-- cells.  Records have numbers if they are asked for; else some are spilled as
-- rows: most of them bare, if the key has a width.  One process may keep in memory
-- what is little.  Rows must come back so many with each read, on average, and
-- blocks stay within the memory.  Says how many cells there were, or what was wrong.
CREATE FUNCTION fc_spill_test(records int, longest int, memory int, processes int, spill_rows bool, bounds int DEFAULT 0, spread int DEFAULT 10000, numbers bool DEFAULT false, keep bool DEFAULT false, key_width int DEFAULT 0, rows_a_read int DEFAULT 0)
RETURNS text LANGUAGE C STRICT AS 'MODULE_PATHNAME';
