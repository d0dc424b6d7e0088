/*-------------------------------------------------------------------------
 *
 * fc_client.h
 *	  What the client sends, as input.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_CLIENT_H
#define FC_CLIENT_H

#include "fc_unpack.h"

/*
 * ERROR 0A000 unless the client itself has called the procedure "procedure",
 * and waits for nothing but its end.  To be called with the memory context that
 * the procedure was called in.
 */
extern void fc_client_check(Oid procedure, MemoryContext called_in);

/* That ERROR */
extern void fc_client_refuse(void);

/*
 * Asks the client for data, and reads them to their end.  After an error the
 * client's next messages are core's to skip.
 */
extern FcInput *fc_client_begin(void);
extern void fc_client_end(FcInput *input);

#endif							/* FC_CLIENT_H */
