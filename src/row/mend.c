/*-------------------------------------------------------------------------
 *
 * row/mend.c
 *	  Values that on_error mends, so that their row is kept.
 *
 *	bytes that are no characters ──► U+FFFD, or "?" in other encodings
 *	a value too long for its type ──► as much as the type takes
 *
 * What there was is noted as a fault of the record that left it whole.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "lib/stringinfo.h"

#include "errors/first_error.h"
#include "row/mend.h"

/* Converted at once; conversions take a part of the input that surely fits */
#define FC_MEND_BLOCK	8192

void
fc_mend_note(FcFaults *faults, uint32 class, const char *column, const char *value,
			 ErrorData *edata)
{
	if (faults->nkept == faults->most)
		elog(ERROR, "a record has more than %d faults", faults->most);
	faults->kept[faults->nkept++] = (FcBad) {class, column, value, edata};
}

char *
fc_mend_characters(int encoding, bool convert, const char *s, size_t *len)
{
	Oid			proc = convert ? FindDefaultConversionProc(encoding, GetDatabaseEncoding()) : InvalidOid;
	unsigned char converted[FC_MEND_BLOCK];
	StringInfoData out;
	int			n;

	initStringInfo(&out);
	for (size_t at = 0; at < *len; at += n)
	{
		int			left = *len - at;

		CHECK_FOR_INTERRUPTS();
		n = !convert ? pg_encoding_verifymbstr(encoding, s + at, left) :
			pg_do_encoding_conversion_buf(proc, encoding, GetDatabaseEncoding(), (unsigned char *) s + at, left,
										  converted, sizeof(converted), true);
		if (n > 0)
		{
			/* a block may end within the character that follows */
			appendBinaryStringInfo(&out, convert ? (char *) converted : s + at, convert ? strlen((char *) converted) : n);
			continue;
		}
		appendStringInfoString(&out, GetDatabaseEncoding() == PG_UTF8 ? "\xef\xbf\xbd" : "?");
		n = pg_encoding_verifymbchar(encoding, s + at, left);
		n = Max(n, 1);
	}
	*len = out.len;
	return out.data;
}

void
fc_mend_begin(FcColumn *column)
{
	int32		typmod = column->typmod;
	Oid			type = column->index < 0 ? InvalidOid : getBaseTypeAndTypmod(column->typid, &typmod);

	if ((type != VARCHAROID && type != BPCHAROID) || typmod <= VARHDRSZ)
		return;
	column->most = typmod - VARHDRSZ;
	column->most_type = format_type_with_typemod(type, typmod);
}

void
fc_mend_length(FcFaults *faults, const FcColumn *column, FcField *field)
{
	size_t		len;

	if (column->most == 0 || field->null || field->len <= column->most)
		return;
	len = pg_mbcharcliplen(field->data, field->len, column->most);
	/* blanks at the end are cut in any case */
	if (len + strspn(field->data + len, " ") == field->len)
		return;
	fc_mend_note(faults, FC_CLASS_CUT_LONG, column->name, pstrdup(field->data),
				 fc_error_made(ERRCODE_STRING_DATA_RIGHT_TRUNCATION,
							   psprintf("value too long for type %s", column->most_type)));
	field->data = pnstrdup(field->data, len);
	field->len = len;
}
