/*-------------------------------------------------------------------------
 *
 * rejects/table.c
 *	  The table that rejected records are written to.
 *
 *	 reject ──► its bytes, from the file ──► text ──► INSERT
 *
 * Rows are inserted by SQL, as the caller: the table's defaults, triggers and
 * privileges are what they are for any other INSERT.  The INSERTs belong to
 * the load's transaction, so that an error takes the rows of both tables
 * back.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "utils/fmgrprotos.h"

#include "rejects/rejects.h"

/*
 * The columns, in the order of the INSERT.  Those before "job" have the names
 * and types of core's copy_error_saving.
 *
 * X(number, name, type, typid, comment)
 */
#define REJECT_COLUMNS(X) \
	X(START, starttime, "timestamptz NOT NULL", TIMESTAMPTZOID, "when the load began") \
	X(USER, userid, "oid NOT NULL", OIDOID, "role that loaded") \
	X(TABLE, copy_tbl, "oid NOT NULL", OIDOID, "table that was loaded") \
	X(FILE, filename, "text NOT NULL", TEXTOID, "path that the load was given; bytes of it that are no text stand as \\xff") \
	X(LINE, lineno, "int8 NOT NULL", INT8OID, "line of the file on which the record ends, as COPY counts") \
	X(RECORD, line, "text", TEXTOID, "the record as it stands in the file, without its line end") \
	X(COLUMN, colname, "text", TEXTOID, "column that was at fault, if it was one") \
	X(VALUE, raw_field_value, "text", TEXTOID, "the field that could not be converted, as it stands in the file") \
	X(MESSAGE, err_message, "text NOT NULL", TEXTOID, "of the error the load would have ended with") \
	X(DETAIL, err_detail, "text", TEXTOID, "detail of that error, where it is about a value") \
	X(SQLSTATE, errorcode, "text NOT NULL", TEXTOID, "SQLSTATE of that error") \
	X(JOB, job, "uuid NOT NULL", UUIDOID, "one value for all records that one load rejected; fast_copy_report() names it") \
	X(CLASS, class, "text NOT NULL", TEXTOID, "which of on_error_classes tolerated the record") \
	X(BYTE_OFFSET, byte_offset, "int8", INT8OID, \
	  "first byte of the record in the file, from 0; null where the file was converted as a whole") \
	X(RAW, raw, "bytea", BYTEAOID, "the record's bytes where they are no text in the database's encoding")

enum
{
#define X(number, ...) COL_##number,
	REJECT_COLUMNS(X)
#undef X
	NCOLUMNS
};

static const FcOwnColumn reject_columns[NCOLUMNS] = {REJECT_COLUMNS(FC_OWN_COLUMN)};

const FcOwnTable fc_reject_kind = {
	"reject_table", "fast_copy_create_reject_table", "records that fast_copy rejected",
	reject_columns, NCOLUMNS
};

struct FcRejectTable
{
	FcTarget   *target;
	SPIPlanPtr	plan;
	Datum		uuid;
	Oid			conversion;		/* from the file's encoding, or InvalidOid */
	MemoryContext row_mcxt;		/* reset for each row */
};

void
fc_reject_table_check(FcTarget *target)
{
	Oid			table = target->options->reject_table;

	if (!OidIsValid(table))
		return;
	target->rejects = fc_own_table_open(&fc_reject_kind, table);
	if (table == target->oid || list_member_oid(get_partition_ancestors(table), target->oid))
		fc_option_error(errmsg("reject_table must not be the table that is loaded"));
	fc_own_table_check_columns(&fc_reject_kind, table);
}

FcRejectTable *
fc_reject_table_begin(FcTarget *target)
{
	FcRejectTable *table = palloc0(sizeof(FcRejectTable));

	table->target = target;
	table->uuid = DirectFunctionCall1(gen_random_uuid, (Datum) 0);
	if (target->plan->need_transcoding)
		table->conversion = FindDefaultConversionProc(target->form.encoding,
													  GetDatabaseEncoding());
	table->row_mcxt = fc_context_memory(CurrentMemoryContext, "reject");
	SPI_connect();
	table->plan = fc_own_table_prepare(&fc_reject_kind, target->options->reject_table);
	return table;
}

/* Returns the bytes in the server's encoding, or NULL if they are no text */
static char *
fc_reject_table_text(FcRejectTable *table, char *bytes, size_t len)
{
	int			encoding = table->target->form.encoding;
	size_t		size;
	char	   *text;

	if (pg_encoding_verifymbstr(encoding, bytes, len) != len)
		return NULL;
	if (!table->target->plan->need_transcoding)
		return bytes;
	size = len * MAX_CONVERSION_GROWTH + 1;
	if (!OidIsValid(table->conversion) || !AllocSizeIsValid(size))
		return NULL;
	text = palloc(size);
	return pg_do_encoding_conversion_buf(table->conversion, encoding,
										 GetDatabaseEncoding(),
										 (unsigned char *) bytes, len,
										 (unsigned char *) text, size, true) == len ? text : NULL;
}

/* Sets one of two columns to the record; none if no value can be so long */
static void
fc_reject_table_record(FcRejectTable *table, const FcReject *reject,
					   Datum *values, char *nulls)
{
	size_t		len = reject->length;
	char	   *bytes;
	char	   *text;

	nulls[COL_RECORD] = nulls[COL_RAW] = 'n';
	if (!AllocSizeIsValid(len + VARHDRSZ))
		return;
	bytes = palloc(len + VARHDRSZ);
	fc_source_read(table->target->source, reject->offset, bytes, len);
	bytes[len] = '\0';
	text = fc_reject_table_text(table, bytes, len);
	values[text ? COL_RECORD : COL_RAW] = text ? CStringGetTextDatum(text) :
		PointerGetDatum(cstring_to_text_with_len(bytes, len));
	nulls[text ? COL_RECORD : COL_RAW] = ' ';
}

static void
fc_reject_table_set(Datum *values, char *nulls, int column, const char *text, bool null)
{
	values[column] = CStringGetTextDatum(text);
	nulls[column] = null ? 'n' : ' ';
}

void
fc_reject_table_put(FcRejectTable *table, const FcReject *reject, uint64 line)
{
	MemoryContext old = MemoryContextSwitchTo(table->row_mcxt);
	FcTarget   *target = table->target;
	uint32		file = fc_source_number(target->source, reject->offset);
	uint64		base = target->source->files[file].base;
	Datum		values[NCOLUMNS] = {0};
	char		nulls[NCOLUMNS];

	/* the table's triggers may have given its name to another table */
	if (!SPI_plan_is_valid(table->plan))
		table->plan = fc_own_table_prepare(&fc_reject_kind, target->options->reject_table);
	memset(nulls, ' ', NCOLUMNS);
	values[COL_START] = TimestampTzGetDatum(target->start);
	values[COL_USER] = ObjectIdGetDatum(GetUserId());
	values[COL_TABLE] = ObjectIdGetDatum(target->oid);
	values[COL_FILE] = CStringGetTextDatum(fc_source_path(target->source, file));
	values[COL_LINE] = Int64GetDatum((int64) line);
	fc_reject_table_record(table, reject, values, nulls);
	fc_reject_table_set(values, nulls, COL_COLUMN, reject->column, reject->column[0] == '\0');
	fc_reject_table_set(values, nulls, COL_VALUE, reject->value, reject->null_input);
	values[COL_MESSAGE] = CStringGetTextDatum(reject->message);
	fc_reject_table_set(values, nulls, COL_DETAIL, reject->detail, reject->detail[0] == '\0');
	values[COL_SQLSTATE] = CStringGetTextDatum(unpack_sql_state(reject->sqlerrcode));
	values[COL_JOB] = table->uuid;
	values[COL_CLASS] = CStringGetTextDatum(fc_options_class_name(reject->class));
	values[COL_BYTE_OFFSET] = Int64GetDatum((int64) (reject->offset - base));
	if (target->original || target->source->files[file].utf16)
		nulls[COL_BYTE_OFFSET] = 'n';
	fc_own_table_insert(table->plan, values, nulls);
	MemoryContextSwitchTo(old);
	MemoryContextReset(table->row_mcxt);
}

char *
fc_reject_table_end(FcRejectTable *table)
{
	char	   *job;

	SPI_finish();
	job = DatumGetCString(DirectFunctionCall1(uuid_out, table->uuid));
	MemoryContextDelete(table->row_mcxt);
	pfree(table);
	return job;
}
