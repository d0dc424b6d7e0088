\echo Use "CREATE EXTENSION fc_spill_test" to load this file. \quit

-- Spills so many records of up to so many bytes by so many processes, each
-- with so many kB, and reads them back, every range of keys in so many slices.
-- Records have numbers if they are asked for, and always with their rows.
-- One process may keep in memory what is little.  Says how many runs there were, or what was wrong.
CREATE FUNCTION fc_spill_test(records int, longest int, memory int, processes int, spill_rows bool, slices int DEFAULT 1, spread int DEFAULT 10000, numbers bool DEFAULT false, keep bool DEFAULT false)
RETURNS text LANGUAGE C STRICT AS 'MODULE_PATHNAME';
