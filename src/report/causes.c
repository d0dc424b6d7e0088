/*-------------------------------------------------------------------------
 *
 * report/causes.c
 *	  What rejected records have in common.
 *
 *	 reject: column, SQLSTATE, message ──► the message without the value
 *		──► cause: how many, the first one, the values most of them have
 *
 * A file with "NA" for NULL in a column has thousands of bad records with one
 * cause.  Memory is bounded, whatever the number of rejects: the constants
 * below.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "common/hashfn.h"

#include "copyfrom/core.h"
#include "errors/first_error.h"
#include "report/report.h"

#define FC_CAUSES			100 /* causes that are told apart */
#define FC_CAUSE_VALUES		8	/* values of a cause that are counted */
#define FC_CAUSE_VALUE		100 /* bytes of a value that a reject has at most,
								 * if it is whole */
#define FC_CAUSE_MESSAGE	400 /* bytes of a message that are kept */

/* A value of a cause */
typedef struct FcCauseValue
{
	char	   *value;
	uint64		count;
} FcCauseValue;

/* A cause.  Values after the first ones are not counted. */
typedef struct FcCauseKept
{
	FcCause		cause;
	uint32		hash;			/* of column, before and after */
	int			sqlerrcode;
	char	   *before;			/* the message up to the value, or all of it */
	char	   *after;			/* and after it; NULL: it shows no value */
	int			nvalues;
	FcCauseValue values[FC_CAUSE_VALUES];	/* in the order they came in */
	FcRefused	refused;		/* the first record, for hints */
} FcCauseKept;

struct FcCauses
{
	const FcTarget *target;
	MemoryContext mcxt;
	int			n;
	uint64		others;			/* rejects for which there was no room */
	FcCauseKept kept[FC_CAUSES];
};

/* A message in two parts, between which the value stands */
typedef struct FcCauseMessage
{
	const char *text;
	int			before;			/* bytes of it before the value */
	const char *after;			/* what follows the value; NULL: no value */
	const char *value;			/* what was refused; NULL: not known */
} FcCauseMessage;

FcCauses *
fc_causes_begin(const FcTarget *target)
{
	FcCauses   *causes = palloc0(sizeof(FcCauses));

	causes->target = target;
	causes->mcxt = CurrentMemoryContext;
	return causes;
}

/*
 * Finds the value in the message.  It may have been cut in the reject, but is
 * whole in the message, which may also show a part of it, or what was made of
 * it.
 */
static void
fc_cause_find_value(FcCauseMessage *message)
{
	size_t		len = strlen(message->value);
	bool		cut = len > 3 && strcmp(message->value + len - 3, "...") == 0;
	char	   *start = pnstrdup(message->value, cut ? len - 3 : len);
	bool		quoted = message->before > 0 && message->text[message->before - 1] == '"';
	const char *found = cut ? strstr(message->text, start) : NULL;

	/* the last place of a value that is not empty */
	for (const char *s = message->text; !cut && start[0] != '\0' && (s = strstr(s, start)) != NULL; s++)
		found = s;
	if (found == NULL && quoted)
	{
		found = strstr(message->text, ": \"");
		found = found ? found + strlen(": \"") : NULL;
		cut = true;
	}
	if (found)
	{
		message->after = !cut ? found + strlen(start) : quoted ? "\"" : "";
		message->before = found - message->text;
	}
	pfree(start);
}

/* What a transform made stands at the end, if the type refused it */
static bool
fc_cause_find_made(FcCauseMessage *message)
{
	const char *found = strstr(message->text, ": \"");

	if (found == NULL || message->text[message->before - 1] != '"')
		return false;
	found += strlen(": \"");
	if (found[0] == '\0')
		return false;
	message->value = pnstrdup(found, strlen(found) - 1);
	message->after = "\"";
	message->before = found - message->text;
	return true;
}

static FcCauseMessage
fc_cause_message(const FcCauses *causes, const FcReject *reject)
{
	FcCauseMessage message = {reject->message, strlen(reject->message)};
	const char *bytes = strstr(reject->message, ": 0x");

	/* bytes that are no characters stand at the end of the message */
	if (reject->class == FC_CLASS_ENCODING && bytes)
	{
		message.value = bytes + strlen(": ");
		message.after = "";
		message.before = message.value - message.text;
	}
	else if (reject->class == FC_CLASS_ENCODING)
		;
	else if (fc_transform_makes(causes->target->options, reject->column) &&
			 fc_cause_find_made(&message))
		return message;
	else if (!reject->null_input)
	{
		message.value = reject->value;
		fc_cause_find_value(&message);
	}
	return message;
}

/* Keeps as much of a text as there is room for */
static char *
fc_cause_keep(const char *text, int len)
{
	return pnstrdup(text, pg_mbcliplen(text, len, FC_CAUSE_MESSAGE));
}

static void
fc_cause_fill(FcCauses *causes, FcCauseKept *kept, const FcReject *reject,
			  const FcCauseMessage *message)
{
	FcRefused  *refused = &kept->refused;

	kept->cause.column = pstrdup(reject->column);
	kept->cause.offset = reject->offset;
	kept->sqlerrcode = reject->sqlerrcode;
	kept->before = fc_cause_keep(message->text, message->before);
	kept->after = message->after ? fc_cause_keep(message->after, strlen(message->after)) : NULL;
	refused->target = causes->target;
	refused->what = reject->class == FC_CLASS_MISSING_COLUMNS ? FC_REFUSED_MISSING :
		reject->class == FC_CLASS_EXTRA_COLUMNS ? FC_REFUSED_EXTRA :
		reject->class == FC_CLASS_ENCODING ? FC_REFUSED_BYTES :
		(reject->class == 0 || reject->class == FC_CLASS_CONVERSION) && !reject->null_input ?
		FC_REFUSED_VALUE : FC_REFUSED_NOTHING;
	refused->file = fc_source_number(causes->target->source, reject->offset);
	refused->offset = reject->offset;
	refused->length = reject->length;
	refused->column = kept->cause.column;
}

static void
fc_cause_count(FcCauseKept *kept, const char *value)
{
	Assert(kept->nvalues <= FC_CAUSE_VALUES);
	kept->cause.count++;
	if (value == NULL)
		return;
	for (int i = 0; i < kept->nvalues; i++)
		if (strcmp(kept->values[i].value, value) == 0)
		{
			kept->values[i].count++;
			return;
		}
	if (kept->nvalues < FC_CAUSE_VALUES)
		kept->values[kept->nvalues++] = (FcCauseValue)
	{
		pstrdup(value), 1
	};
}

FcCause *
fc_causes_add(FcCauses *causes, const FcReject *reject)
{
	FcCauseMessage message = fc_cause_message(causes, reject);
	uint32		hash = string_hash(reject->column, SIZE_MAX);
	MemoryContext old = MemoryContextSwitchTo(causes->mcxt);
	FcCauseKept *kept = NULL;

	hash = hash_combine(hash, hash_bytes((const unsigned char *) message.text, message.before));
	hash = hash_combine(hash, message.after ? string_hash(message.after, SIZE_MAX) : 0);
	hash = hash_combine(hash, (uint32) reject->sqlerrcode);
	for (int i = 0; i < causes->n && kept == NULL; i++)
		if (causes->kept[i].hash == hash)
			kept = &causes->kept[i];
	if (kept == NULL && causes->n < FC_CAUSES)
	{
		kept = &causes->kept[causes->n++];
		kept->hash = hash;
		fc_cause_fill(causes, kept, reject, &message);
	}
	/* rejects come in the order of the file */
	Assert(kept == NULL || kept->cause.offset <= reject->offset);
	if (kept)
		fc_cause_count(kept, message.value);
	else
		causes->others++;
	MemoryContextSwitchTo(old);
	return kept && kept->cause.count == 1 ? &kept->cause : NULL;
}

/* Adds what would probably avoid the error, for the value that comes most */
static void
fc_cause_hints(StringInfo detail, FcCauseKept *kept, const FcCauseValue *most)
{
	const FcTarget *target = kept->refused.target;
	FcRefused  *refused = &kept->refused;
	char	   *first = NULL;
	char	   *hint;

	refused->text = fc_error_record_text(target->source, target->plan, refused->offset, refused->length);
	refused->first = kept->cause.line == target->options->header_lines + 1;
	if (refused->first)
	{
		refused->value = kept->nvalues > 0 ? kept->values[0].value : NULL;
		first = fc_hint_text(refused);
	}
	refused->first = refused->first && (most == NULL || most == &kept->values[0]);
	refused->value = most ? most->value : NULL;
	hint = fc_hint_text(refused);
	if (first)
		appendStringInfo(detail, ". %s", first);
	if (hint && (first == NULL || strcmp(first, hint) != 0))
		appendStringInfo(detail, "%s %s", first ? "" : ".", hint);
}

/* Writes what was wrong, and with which values */
static void
fc_cause_describe(FcCauseKept *kept)
{
	const FcCauseValue *most = NULL;	/* the one that came most often */
	bool		shown = kept->after || kept->sqlerrcode == 0;
	StringInfo	detail = makeStringInfo();

	for (int i = 0; i < kept->nvalues; i++)
		if (most == NULL || kept->values[i].count > most->count)
			most = &kept->values[i];
	if (kept->sqlerrcode != 0)
		appendStringInfo(detail, "%s: ", unpack_sql_state(kept->sqlerrcode));
	else
		appendStringInfoString(detail, most ? "set to null: \"" : "set to null: null input");
	appendStringInfoString(detail, kept->before);
	if (most && kept->sqlerrcode == 0)
		appendStringInfo(detail, "%s\"", most->value);
	else if (most && kept->after)
		appendStringInfo(detail, "%s%s", most->value, kept->after);
	else if (most)
		appendStringInfo(detail, ", such as \"%s\"", most->value);
	/* values that were cut may differ */
	if (most && strlen(most->value) > FC_CAUSE_VALUE)
		;
	else if (most && most->count == kept->cause.count && most->count > 1)
		appendStringInfoString(detail, ", each time");
	else if (most && most->count > 1)
		appendStringInfo(detail, ", %s times", fc_units_count(most->count));
	else if (most && kept->cause.count > 1 && shown)
		appendStringInfoString(detail, ", and other values");
	if (!fc_format_is_binary(&kept->refused.target->options->format))
		fc_cause_hints(detail, kept, most);
	kept->cause.detail = detail->data;
}

static int
fc_cause_cmp(const ListCell *a, const ListCell *b)
{
	const FcCause *ca = lfirst(a);
	const FcCause *cb = lfirst(b);

	if (ca->count != cb->count)
		return ca->count > cb->count ? -1 : 1;
	return ca->offset < cb->offset ? -1 : ca->offset > cb->offset;
}

List *
fc_causes_list(FcCauses *causes, uint64 *others)
{
	MemoryContext old = MemoryContextSwitchTo(causes->mcxt);
	List	   *list = NIL;

	for (int i = 0; i < causes->n; i++)
	{
		fc_cause_describe(&causes->kept[i]);
		list = lappend(list, &causes->kept[i].cause);
	}
	list_sort(list, fc_cause_cmp);
	*others = causes->others;
	MemoryContextSwitchTo(old);
	return list;
}
