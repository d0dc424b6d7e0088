/*-------------------------------------------------------------------------
 *
 * source/client.h
 *	  What the client sends, as input.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CLIENT_H
#define FC_CLIENT_H

#include "source/decompress.h"

/* What the client is to send */
typedef enum FcClientData
{
	FC_CLIENT_TEXT,
	FC_CLIENT_CSV,
	FC_CLIENT_CSV_WHOLE,		/* with its marker, if it has one: core finds
								 * it */
	FC_CLIENT_BINARY,
	FC_CLIENT_PACKED			/* bytes, packed or not */
} FcClientData;

/* ERROR 0A000 unless there is a client that can be asked */
extern void fc_client_check(void);

/*
 * Asks the client for data of so many columns, in that encoding, and reads
 * them to their end.  After an error core skips the client's next messages.
 */
extern FcInput *fc_client_begin(FcClientData data, int encoding, int ncolumns);

/*
 * After the last byte: ERROR 57014 if the client has given up with CopyFail,
 * 08P01 if it has sent a message that has no place here, 08006 if the
 * connection is lost
 */
extern void fc_client_check_whole(FcInput *input);

/*
 * Is the last byte so far a carriage return?  Core asks for more then, to see
 * whether a line feed comes after it.
 */
extern bool fc_client_ends_in_return(const FcInput *input);

/* Frees the last message; the functions above may be called after it */
extern void fc_client_end(FcInput *input);

#endif							/* FC_CLIENT_H */
