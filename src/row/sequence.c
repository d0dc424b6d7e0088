/*-------------------------------------------------------------------------
 *
 * row/sequence.c
 *	  Takes many numbers of a sequence at once.
 *
 * nextval() takes as many numbers as the sequence's CACHE says, and costs more
 * than a third of what loading a row does.  Here the sequence's one tuple is
 * moved on by any count, in the way in which nextval() moves it: under the
 * lock of its buffer, so that each number is given away once, with a WAL
 * record of the state it has afterwards.
 *
 * The caller calls nextval() before this and after it.  That checks the
 * privilege, locks the sequence against ALTER and DROP until the transaction
 * ends, and sets what currval() says.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "catalog/pg_sequence.h"
#include "commands/sequence.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"

#include "compat/compat.h"
#include "row/sequence.h"

static FormData_pg_sequence
fc_sequence_form(Oid sequence)
{
	HeapTuple	tuple = SearchSysCache1(SEQRELID, ObjectIdGetDatum(sequence));
	FormData_pg_sequence form;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for sequence %u", sequence);
	form = *(Form_pg_sequence) GETSTRUCT(tuple);
	ReleaseSysCache(tuple);
	return form;
}

int64
fc_sequence_increment(Oid sequence)
{
	return fc_sequence_form(sequence).seqincrement;
}

/* Numbers between "last" and the limit in the direction of the increment */
static uint64
fc_sequence_left(const FormData_pg_sequence *form, int64 last)
{
	if (form->seqincrement > 0)
		return last >= form->seqmax ? 0 :
			((uint64) form->seqmax - (uint64) last) / (uint64) form->seqincrement;
	return last <= form->seqmin ? 0 :
		((uint64) last - (uint64) form->seqmin) / -(uint64) form->seqincrement;
}

/* Sets the number given last, also in WAL; buf is locked by the caller */
static void
fc_sequence_set(Relation rel, Buffer buf, ItemId item, int64 last)
{
	Page		page = BufferGetPage(buf);
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);
	Form_pg_sequence_data data = (Form_pg_sequence_data) ((char *) tuple + tuple->t_hoff);

	START_CRIT_SECTION();
	data->last_value = last;
	data->is_called = true;
	/* the next nextval() has to write WAL */
	data->log_cnt = 0;
	MarkBufferDirty(buf);
	if (RelationNeedsWAL(rel))
	{
		xl_seq_rec	xlrec;
		XLogRecPtr	lsn;

		fc_seq_rec_locate(&xlrec, rel);
		XLogBeginInsert();
		XLogRegisterBuffer(0, buf, REGBUF_WILL_INIT);
		XLogRegisterData((char *) &xlrec, sizeof(xlrec));
		XLogRegisterData((char *) tuple, ItemIdGetLength(item));
		lsn = XLogInsert(RM_SEQ_ID, XLOG_SEQ_LOG);
		PageSetLSN(page, lsn);
	}
	END_CRIT_SECTION();
}

/* Body of fc_sequence_take, with the sequence's only page locked */
static uint64
fc_sequence_advance(Relation rel, Buffer buf, const FormData_pg_sequence *form,
					uint64 wanted, int64 *first)
{
	Page		page = BufferGetPage(buf);
	ItemId		item = PageGetItemId(page, FirstOffsetNumber);
	HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);
	Form_pg_sequence_data data = (Form_pg_sequence_data) ((char *) tuple + tuple->t_hoff);
	int64		last = data->last_value;
	uint64		left = fc_sequence_left(form, last);
	uint64		count = Min(wanted, left);

	/* after setval(..., false) the number itself comes next */
	if (count == 0 || !data->is_called)
		return 0;
	*first = last + form->seqincrement;
	fc_sequence_set(rel, buf, item,
					(int64) ((uint64) last + count * (uint64) form->seqincrement));
	return count;
}

uint64
fc_sequence_take(Oid sequence, uint64 wanted, int64 *first)
{
	FormData_pg_sequence form = fc_sequence_form(sequence);
	Relation	rel;
	Buffer		buf;
	uint64		count;

	if (form.seqcache != 1)
		return 0;
	/* with an XID the commit waits for the WAL record */
	(void) GetTopTransactionId();
	rel = relation_open(sequence, NoLock);
	buf = ReadBuffer(rel, 0);
	LockBuffer(buf, BUFFER_LOCK_EXCLUSIVE);
	count = fc_sequence_advance(rel, buf, &form, wanted, first);
	UnlockReleaseBuffer(buf);
	relation_close(rel, NoLock);
	return count;
}
