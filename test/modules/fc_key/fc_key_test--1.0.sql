\echo Use "CREATE EXTENSION fc_key_test" to load this file. \quit

-- Of all functions: the ranges that are there, from los to his, ascending; NULL is no
-- bound.  What is told is as SQL has it.

-- How wide new partitions are: by the ranges or "width"; with an epoch, or a zone, as
-- pg_partman steps
CREATE FUNCTION fc_key_width(type regtype, los text[], his text[], width text, epoch bigint DEFAULT NULL, zone text DEFAULT NULL)
RETURNS text LANGUAGE C AS 'MODULE_PATHNAME';

-- Do the ranges line up with that width?
CREATE FUNCTION fc_key_lines_up(type regtype, los text[], his text[], width text, epoch bigint DEFAULT NULL, zone text DEFAULT NULL)
RETURNS boolean LANGUAGE C AS 'MODULE_PATHNAME';

-- The range that the key belongs to, as two bounds; there is "it is there" if it is one
-- of the ranges
CREATE FUNCTION fc_key_range(type regtype, los text[], his text[], width text, key text, epoch bigint DEFAULT NULL, zone text DEFAULT NULL,
	OUT lo text, OUT hi text, OUT there boolean)
LANGUAGE C AS 'MODULE_PATHNAME';

-- The ranges that do not lie within bounds
CREATE FUNCTION fc_key_others(type regtype, los text[], his text[], lo text, hi text)
RETURNS text LANGUAGE C AS 'MODULE_PATHNAME';

-- What fits keys and size
CREATE FUNCTION fc_key_fit(type regtype, lo text, hi text, bytes bigint)
RETURNS text LANGUAGE C AS 'MODULE_PATHNAME';
