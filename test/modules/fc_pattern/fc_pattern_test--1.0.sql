\echo Use "CREATE EXTENSION fc_pattern_test" to load this file. \quit

-- The value as the type prints it; ERROR as fast_copy has it if it does not match
CREATE FUNCTION fc_pattern_test(pattern text, type regtype, value text, typmod int DEFAULT -1)
RETURNS text LANGUAGE C STRICT AS 'MODULE_PATHNAME';

-- The same, NULL where the value does not match
CREATE FUNCTION fc_pattern_try(pattern text, type regtype, value text, typmod int DEFAULT -1)
RETURNS text LANGUAGE C STRICT AS 'MODULE_PATHNAME';

-- steps, epoch or core: who reads the values
CREATE FUNCTION fc_pattern_kind(pattern text)
RETURNS text LANGUAGE C STRICT AS 'MODULE_PATHNAME';
