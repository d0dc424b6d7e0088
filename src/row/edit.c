/*-------------------------------------------------------------------------
 *
 * row/edit.c
 *	  Fields that are written otherwise than PostgreSQL reads them.
 *
 *	field ──► without blanks around it ──► NULL, if it is one of some words
 *		  ──► number with PostgreSQL's separators ──► conversion
 *
 * A number is read strictly: one with misplaced separators is refused, because
 * the type might read it as another number.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "row/edit.h"

/* A number that is read and written anew */
typedef struct FcNumeral
{
	const FcEdit *edit;
	const char *at;
	const char *end;
	char	   *out;
} FcNumeral;

bool
fc_edit_is_number(Oid typid)
{
	static const Oid numbers[] = {INT2OID, INT4OID, INT8OID, FLOAT4OID, FLOAT8OID, NUMERICOID};
	Oid			base = getBaseType(typid);

	for (int i = 0; i < lengthof(numbers); i++)
		if (numbers[i] == base)
			return true;
	return false;
}

bool
fc_edit_is_word(const List *words, const char *s, size_t n)
{
	foreach_node(String, word, words)
		if (strlen(strVal(word)) == n && memcmp(strVal(word), s, n) == 0)
			return true;
	return false;
}

/*
 * Bytes of the separator of thousands, if it comes next, or 0.  A blank, which
 * people can type, stands for those of UTF8 that break no line, too.
 */
static inline size_t
fc_numeral_at_group(const FcNumeral *numeral)
{
	const char *const groups[] = {numeral->edit->group, "\xC2\xA0", "\xE2\x80\xAF"};
	int			n = groups[0][0] == ' ' && GetDatabaseEncoding() == PG_UTF8 ? lengthof(groups) : 1;

	for (int i = 0; i < n && numeral->at < numeral->end; i++)
		if (*numeral->at == groups[i][0] && numeral->end - numeral->at >= strlen(groups[i]) &&
			memcmp(numeral->at, groups[i], strlen(groups[i])) == 0)
			return strlen(groups[i]);
	return 0;
}

/* Is there a separator, which the type itself must not see? */
static bool
fc_numeral_has_separator(FcNumeral numeral)
{
	for (; numeral.at < numeral.end; numeral.at++)
		if (*numeral.at == ',' ||
			(*numeral.at == '.' && numeral.edit->decimal != '.') ||
			fc_numeral_at_group(&numeral))
			return true;
	return false;
}

/* Takes one of these bytes, if it comes next */
static bool
fc_numeral_take(FcNumeral *numeral, char one, char other, char written)
{
	if (numeral->at == numeral->end || (*numeral->at != one && *numeral->at != other))
		return false;
	*numeral->out++ = written ? written : *numeral->at;
	numeral->at++;
	return true;
}

/* Takes all digits that come next; returns how many */
static int
fc_numeral_digits(FcNumeral *numeral)
{
	const char *start = numeral->at;

	while (numeral->at < numeral->end && isdigit((unsigned char) *numeral->at))
		*numeral->out++ = *numeral->at++;
	return (int) (numeral->at - start);
}

/* Takes the digits before the fraction; -1 if groups have a wrong size */
static int
fc_numeral_whole(FcNumeral *numeral)
{
	int			n = fc_numeral_digits(numeral);
	size_t		group;

	if (fc_numeral_at_group(numeral) && (n < 1 || n > 3))
		return -1;
	while ((group = fc_numeral_at_group(numeral)) > 0)
	{
		numeral->at += group;
		if (fc_numeral_digits(numeral) != 3)
			return -1;
	}
	return n;
}

/* Takes the whole number; false if it is not one of the type */
static bool
fc_numeral_read(FcNumeral *numeral)
{
	Oid			typid = numeral->edit->typid;
	bool		integer = typid == INT2OID || typid == INT4OID || typid == INT8OID;
	int			whole;
	int			fraction = 0;

	(void) fc_numeral_take(numeral, '+', '-', '\0');
	whole = fc_numeral_whole(numeral);
	if (whole < 0)
		return false;
	if (!integer && fc_numeral_take(numeral, numeral->edit->decimal, numeral->edit->decimal, '.'))
		fraction = fc_numeral_digits(numeral);
	if (whole + fraction == 0)
		return false;
	if (!integer && fc_numeral_take(numeral, 'e', 'E', '\0'))
	{
		(void) fc_numeral_take(numeral, '+', '-', '\0');
		if (fc_numeral_digits(numeral) == 0)
			return false;
	}
	return numeral->at == numeral->end;
}

void
fc_edit_number(const FcEdit *edit, FcField *field)
{
	FcNumeral	numeral = {edit, field->data, field->data + field->len};
	char	   *number;

	field->bad = false;
	while (numeral.at < numeral.end && isspace((unsigned char) *numeral.at))
		numeral.at++;
	while (numeral.at < numeral.end && isspace((unsigned char) numeral.end[-1]))
		numeral.end--;
	if (!fc_numeral_has_separator(numeral))
		return;
	number = numeral.out = palloc(numeral.end - numeral.at + 1);
	field->bad = !fc_numeral_read(&numeral);
	if (field->bad)
		return;
	*numeral.out = '\0';
	field->data = number;
	field->len = numeral.out - number;
}

void
fc_edit_field(const FcEdit *edit, FcField *field)
{
	const char *all = field->data + field->len;
	const char *end = all;

	Assert(!field->null && !field->marker);
	field->data += fc_edit_trim(edit->flags, field->quoted, field->data, &end) - field->data;
	field->len = end - field->data;
	if (end < all)
		field->data = pnstrdup(field->data, field->len);
	if ((edit->flags & FC_FIELD_WORDS) &&
		(!field->quoted || (edit->flags & FC_FIELD_FORCE_NULL)))
		field->null = fc_edit_is_word(edit->words, field->data, field->len);
	if ((edit->flags & FC_FIELD_NUMBER) && !field->null)
		fc_edit_number(edit, field);
}
