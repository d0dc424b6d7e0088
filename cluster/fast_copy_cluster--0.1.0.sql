\echo Use "CREATE EXTENSION fast_copy_cluster" to load this file. \quit

-- What remote/log.c knows of it: the order and the types of the columns, and
-- the name of the index.  It writes without SQL, so that nobody needs privileges.
CREATE TABLE @extschema@.fast_copy_transactions (
	gid text COLLATE pg_catalog."C" NOT NULL,
	server oid NOT NULL,
	system_identifier bigint NOT NULL,
	loaded_by oid NOT NULL,
	decided timestamptz NOT NULL,
	CONSTRAINT fast_copy_transactions_pkey PRIMARY KEY (gid)
);

REVOKE ALL ON @extschema@.fast_copy_transactions FROM PUBLIC;

-- tells this database from others in the names of prepared transactions
INSERT INTO @extschema@.fast_copy_transactions
SELECT pg_catalog.replace(pg_catalog.gen_random_uuid()::pg_catalog.text, '-', ''), 0, 0, 0, pg_catalog.now();

COMMENT ON TABLE @extschema@.fast_copy_transactions
IS 'transactions on other servers that loads in two phases have decided to commit; the next load into a server, or fast_copy_resolve(), removes those that are done';
COMMENT ON COLUMN @extschema@.fast_copy_transactions.gid
IS 'name of the prepared transaction there';
COMMENT ON COLUMN @extschema@.fast_copy_transactions.server
IS 'OID of the foreign server, or the number of a group of Citus nodes plus one; 0 in the row that names this database';
COMMENT ON COLUMN @extschema@.fast_copy_transactions.system_identifier
IS 'identifier of the cluster that has prepared it, and of the database there, in one';
COMMENT ON COLUMN @extschema@.fast_copy_transactions.loaded_by
IS 'OID of the role that loaded';
COMMENT ON COLUMN @extschema@.fast_copy_transactions.decided
IS 'when the load was about to commit';

CREATE FUNCTION @extschema@.fast_copy_resolve(
	server name DEFAULT NULL,
	OUT server_name name,
	OUT gid text,
	OUT prepared timestamptz,
	OUT outcome text,
	OUT detail text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'fast_copy_resolve'
LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION @extschema@.fast_copy_resolve(name)
IS 'commits or rolls back what crashed loads have left prepared on a foreign server; without a name, on all servers that belong to the current user or a superuser; returns what there was';

CREATE FUNCTION @extschema@.fast_copy_in_doubt_now(
	OUT server_name name,
	OUT gid text,
	OUT prepared timestamptz,
	OUT outcome text,
	OUT detail text
) RETURNS SETOF record
AS 'MODULE_PATHNAME', 'fast_copy_in_doubt_now'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE ROWS 10;

COMMENT ON FUNCTION @extschema@.fast_copy_in_doubt_now()
IS 'part of the view fast_copy_in_doubt';

CREATE VIEW @extschema@.fast_copy_in_doubt AS
SELECT server_name, gid, prepared, outcome, detail
FROM @extschema@.fast_copy_in_doubt_now();

COMMENT ON VIEW @extschema@.fast_copy_in_doubt
IS 'what foreign servers have prepared for loads, and what fast_copy_resolve() would do; asks those servers of the current user and of superusers for which there is a mapping';
COMMENT ON COLUMN @extschema@.fast_copy_in_doubt.server_name
IS 'foreign server';
COMMENT ON COLUMN @extschema@.fast_copy_in_doubt.gid
IS 'name of the prepared transaction there';
COMMENT ON COLUMN @extschema@.fast_copy_in_doubt.prepared
IS 'when the server prepared it';
COMMENT ON COLUMN @extschema@.fast_copy_in_doubt.outcome
IS 'to be committed, to be rolled back, in progress, left: the role there may not end it, or unreachable: the server could not be asked';
COMMENT ON COLUMN @extschema@.fast_copy_in_doubt.detail
IS 'why it is left or could not be asked, or null';

GRANT SELECT ON @extschema@.fast_copy_in_doubt TO PUBLIC;
