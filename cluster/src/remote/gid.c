/*-------------------------------------------------------------------------
 *
 * remote/gid.c
 *	  Names of the transactions that nodes prepare for this server.
 *
 *	 fast_copy_<cluster>_<identity>_<database>_<server>_<XID>_<nonce>_<number>
 *
 * Copies of a cluster have its identifier, and maybe its OIDs: the identity
 * that CREATE EXTENSION draws tells them apart, and the nonce transactions.
 * The XID is for people, and decides nothing: a crash may give it out again.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/transam.h"
#include "access/xact.h"
#include "access/xlog.h"

#include "remote/remote.h"

char *
fc_gid_prefix(const char *identity, Oid server)
{
	return psprintf("fast_copy_" UINT64_FORMAT "_%s_%u_%u_", GetSystemIdentifier(),
					identity, MyDatabaseId, server);
}

uint64
fc_gid_nonce(void)
{
	uint64		nonce;

	do
		if (!pg_strong_random(&nonce, sizeof(nonce)))
			ereport(ERROR,
					(errcode(ERRCODE_INTERNAL_ERROR),
					 errmsg("could not generate a random number")));
	while (nonce == 0);
	return nonce;
}

char *
fc_gid_make(const char *prefix, uint64 nonce, int n)
{
	return psprintf("%s" UINT64_FORMAT "_%08x%08x_%d", prefix,
					U64FromFullTransactionId(GetTopFullTransactionId()),
					(uint32) (nonce >> 32), (uint32) nonce, n);
}

uint64
fc_gid_read(const char *gid, const char *prefix)
{
	size_t		len = strlen(prefix);
	char	   *end;
	uint64		nonce;

	if (strncmp(gid, prefix, len) != 0)
		return 0;
	(void) strtoull(gid + len, &end, 10);
	if (end == gid + len || *end != '_')
		return 0;
	gid = end + 1;
	nonce = strtoull(gid, &end, 16);
	return end == gid + 16 && *end == '_' ? nonce : 0;
}
