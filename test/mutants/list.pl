# Mutants that an assertion must catch: one on either side of a border that bytes
# cross.  Each is what it breaks, the file, what of it is replaced by what, and where
# the server must stop: a file, or none but that an assertion fails.

(
	# a writer's pages, on their way to WAL and to a file
	[ 'a row is given a place that another has', 'heap/page_writer.c',
		'space->upper -= len;', 'space->upper -= len - 8;', 'page_check.c' ],
	[ 'a page says that its rows are frozen', 'heap/page_writer.c',
		'if \(writer->base.options & HEAP_INSERT_FROZEN\)\n\t\tPageSetAllVisible', 'PageSetAllVisible', 'page_check.c' ],
	[ 'rows have the transaction of none', 'heap/page_writer.c',
		'HeapTupleHeaderSetXmin\(row, writer->xid\)', 'HeapTupleHeaderSetXmin(row, InvalidTransactionId)', 'page_check.c' ],
	[ 'rows seem to be deleted', 'heap/page_writer.c',
		'writer->infomask = HEAP_XMAX_INVALID;', 'writer->infomask = 0;', 'page_check.c' ],
	[ 'rows do not know their places', 'heap/append.h',
		'ItemPointerSet\(&row->t_ctid, block, off\)', 'ItemPointerSet(&row->t_ctid, block, off + 1)', 'page_check.c' ],
	[ 'rows are told the place of another page', 'heap/page_file.c',
		'fc_append_place\(append, i, append->block \+ i\)', 'fc_append_place(append, i, append->block)', 'page_check.c' ],
	[ 'a page has no LSN', 'heap/page_log.c', 'PageSetLSN\(page, lsn\);', '', 'page_file.c' ],
	[ 'the file is a page too long', 'heap/page_file.c',
		'\(off_t\) n \* BLCKSZ\)', '(off_t) (n + 1) * BLCKSZ)', 'page_file.c' ],
	[ 'a page in buffers is told another place', 'heap/page_shared.c',
		'fc_append_place\(append, first \+ i, append->block\)', 'fc_append_place(append, first + i, append->block + 1)', 'page_check.c' ],

	# records that are read by their places
	[ 'places are in no order', 'sort/spill_read.c',
		'(?<=const FcItem \*items = )fc_item_sort\(.*\)(?=;)', 'reader->items', 'spill_read.c' ],
	[ 'a read ends before its last record', 'sort/fetch.c',
		'op->request.len = end - start;', 'op->request.len = end - start - 1;', 'fetch.c' ],
	[ 'a record seems to be after the end', 'sort/fetch.c',
		'(?<=fc_fetch_offset\(fetch, fetch->at\) \+ )fetch->within', 'fetch->within + fetch->source->size', 'fetch.c' ],
	[ 'records have more bytes than there is room for', 'sort/spill_write.c',
		'open->cell.fetched \+= MAXALIGN\(\(Size\) length \+ 1\);', 'open->cell.fetched += length / 2;', 'spill_read.c' ],

	# files that change hands
	[ 'rows are older than pg_class says', 'partition/exchange.c',
		'fc_exchange_field\(a, b, relfrozenxid\);', 'a->relfrozenxid = ReadNextTransactionId() + 100;', 'exchange.c' ],
	[ 'the old file stays', 'partition/exchange.c',
		'fc_exchange_field\(a, b, relfilenode\);', '', 'exchange.c' ],
	[ 'rows are of a transaction that has ended', 'heap/page_writer.c',
		'writer->xid = GetCurrentTransactionId\(\)', 'writer->xid = GetCurrentTransactionId() - 1', 'page_check.c' ],
	[ 'an index gets the file of a heap', 'partition/exchange.c',
		'fc_exchange_one\(pair->index, pair->like\)', 'fc_exchange_one(pair->index, table)', 'exchange.c' ],
)
