/*-------------------------------------------------------------------------
 *
 * wire/wire.h
 *	  The client of other servers: libpq, which only wire.c sees.
 *
 * No function throws.  Only connect and poll wait: to look up a name, or to
 * compute for SCRAM.
 *
 * After an answer that is too long, or if libpq fails, all functions fail.  A
 * server's texts are valid in the database's encoding, and not longer than
 * FC_WIRE_TEXT.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_WIRE_H
#define FC_WIRE_H

/* A connection, and libpq's result, which only wire.c knows more of */
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

/* Is this an option of a connection that users may set? */
extern bool fc_wire_is_option(const char *name);

/*
 * Begins a connection, which poll goes on with and finish ends; NULL: out
 * of memory.  It keeps what the server says beside errors to itself, and
 * does not wait.  With "expand" the first dbname is a connection string,
 * and counts less than what comes after it.
 */
extern FcWire *fc_wire_connect(const char *const *names, const char *const *values, bool expand);
extern FcWirePoll fc_wire_poll(FcWire *wire);
extern void fc_wire_finish(FcWire *wire);

/* Closes the connection at once; error says why from then on */
extern void fc_wire_give_up(FcWire *wire, const char *why);
extern bool fc_wire_is_open(const FcWire *wire);

extern int fc_wire_socket(const FcWire *wire);
extern int fc_wire_used_password(const FcWire *wire);
extern char *fc_wire_error(FcWire *wire);

/* 1, or 0 on failure */
extern int fc_wire_send(FcWire *wire, const char *sql);
extern int fc_wire_consume(FcWire *wire);

/* 0: all is sent; 1: some must wait; -1: failure */
extern int fc_wire_flush(FcWire *wire);

/* 1: result would wait */
extern int fc_wire_is_busy(FcWire *wire);

/* NULL: the command has ended; else to be freed by clear */
extern FcWireResult *fc_wire_result(FcWire *wire);
/* NULL, as one that did not come, is an FC_WIRE_ERROR that has no fields */
extern FcWireKind fc_wire_kind(const FcWireResult *result);
/* of an error, or NULL */
extern char *fc_wire_field(const FcWireResult *result, int code);

/* Empty for NULL, and for what the server has not sent */
extern char *fc_wire_value(const FcWireResult *result, int row, int column);
extern int fc_wire_rows(const FcWireResult *result);
extern int fc_wire_columns(const FcWireResult *result);
extern char *fc_wire_tag(FcWireResult *result);
extern void fc_wire_clear(FcWireResult *result);

/* Data of a COPY, and its end: with an error if "error" is not NULL */
extern int fc_wire_put(FcWire *wire, const char *bytes, int len);
extern int fc_wire_put_end(FcWire *wire, const char *error);

/*
 * Begins such a request, on a connection of its own, which cancel_poll goes
 * on with until it stands, and cancel_end frees at any time; NULL: out of
 * memory, or the connection is lost.
 */
extern FcWireCancel *fc_wire_cancel_begin(FcWire *wire);
extern FcWirePoll fc_wire_cancel_poll(FcWireCancel *cancel);
extern int fc_wire_cancel_socket(const FcWireCancel *cancel);
extern void fc_wire_cancel_end(FcWireCancel *cancel);

/* How many messages beside errors the server has sent */
extern uint64 fc_wire_notices(const FcWire *wire);

#endif							/* FC_WIRE_H */
