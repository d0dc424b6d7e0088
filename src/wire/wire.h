/*-------------------------------------------------------------------------
 *
 * wire/wire.h
 *	  The client of other servers: libpq, in a module of its own.
 *
 * A library that is linked to libpq opens it, and a dozen libraries that libpq
 * needs, in each process that loads it.  Parallel workers have no use for them.
 * So the calls to libpq are in a second library, fast_copy_libpq, which the
 * leader loads when it meets a foreign table; it hands out a table of
 * functions.  Core does the same for WAL receivers.
 *
 * No function here throws, and none waits but connect and poll, which may look
 * up a name, or compute for as long as a SCRAM exchange asks for: who calls
 * waits for the socket.
 *
 * A server may send anything, and without an end.  What it sends on one command
 * is bounded: beyond that, or where libpq fails, the connection is closed, and
 * all functions fail from then on.  Its texts are valid in the database's
 * encoding, and not longer than FC_WIRE_TEXT.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WIRE_H
#define FC_WIRE_H

/* A connection, and libpq's result, which only the module knows more of */
typedef struct FcWire FcWire;
typedef struct pg_result FcWireResult;

/* Bytes of a server's text that are shown; the rest is cut off */
#define FC_WIRE_TEXT	(64 * 1024)

/* A request that a server gives up what it does for a connection */
typedef struct FcWireCancel FcWireCancel;

/* What a connection waits for while it is made */
typedef enum FcWirePoll
{
	FC_WIRE_FAILED,
	FC_WIRE_READS,
	FC_WIRE_WRITES,
	FC_WIRE_STANDS				/* it is made */
} FcWirePoll;

typedef enum FcWireKind
{
	FC_WIRE_ERROR,
	FC_WIRE_DONE,				/* a command has been run */
	FC_WIRE_ROWS,
	FC_WIRE_COPY_IN,			/* the server takes rows */
	FC_WIRE_OTHER				/* what no command of ours is answered with */
} FcWireKind;

typedef struct FcWireFunctions
{
	/* Is this an option of a connection that users may set? */
	bool		(*is_option) (const char *name);

	/*
	 * Begins a connection, which poll goes on with and finish ends; NULL: out
	 * of memory.  It keeps what the server says beside errors to itself, and
	 * does not wait.  With "expand" the first dbname is a connection string,
	 * and counts less than what comes after it.
	 */
	FcWire	   *(*connect) (const char *const *names, const char *const *values, bool expand);
	FcWirePoll	(*poll) (FcWire *wire);
	void		(*finish) (FcWire *wire);

	/* Closes the connection at once; error says why from then on */
	void		(*give_up) (FcWire *wire, const char *why);
	bool		(*is_open) (const FcWire *wire);

	int			(*socket) (const FcWire *wire);
	int			(*used_password) (const FcWire *wire);
	char	   *(*error) (FcWire *wire);

	/* 1, or 0 on failure */
	int			(*send) (FcWire *wire, const char *sql);
	int			(*consume) (FcWire *wire);

	/* 0: all is sent; 1: some must wait; -1: failure */
	int			(*flush) (FcWire *wire);

	/* 1: result would wait */
	int			(*is_busy) (FcWire *wire);

	/* NULL: the command has ended; else to be freed by clear */
	FcWireResult *(*result) (FcWire *wire);
	FcWireKind	(*kind) (const FcWireResult *result);
	/* of an error, or NULL */
	char	   *(*field) (const FcWireResult *result, int code);

	/* Empty for NULL, and for what the server has not sent */
	char	   *(*value) (const FcWireResult *result, int row, int column);
	int			(*rows) (const FcWireResult *result);
	int			(*columns) (const FcWireResult *result);
	char	   *(*tag) (FcWireResult *result);
	void		(*clear) (FcWireResult *result);

	/* Data of a COPY, and its end: with an error if "error" is not NULL */
	int			(*put) (FcWire *wire, const char *bytes, int len);
	int			(*put_end) (FcWire *wire, const char *error);

	/*
	 * Begins such a request, on a connection of its own, which cancel_poll goes
	 * on with until it stands, and cancel_end frees at any time; NULL: out of
	 * memory, or the connection is lost.
	 */
	FcWireCancel *(*cancel_begin) (FcWire *wire);
	FcWirePoll	(*cancel_poll) (FcWireCancel *cancel);
	int			(*cancel_socket) (const FcWireCancel *cancel);
	void		(*cancel_end) (FcWireCancel *cancel);

	/* How many messages beside errors the server has sent */
	uint64		(*notices) (const FcWire *wire);
} FcWireFunctions;

/* What the module exports; the size tells that both are of one version */
typedef const FcWireFunctions *(*FcWireTable) (Size size);

/* Is the module there?  If not, sets *why */
extern bool fc_wire_is_there(const char **why);

/* Returns the functions, and loads the module for it; ERROR if it cannot be */
extern const FcWireFunctions *fc_wire(void);

#endif							/* FC_WIRE_H */
