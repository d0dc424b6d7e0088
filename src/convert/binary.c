/*-------------------------------------------------------------------------
 *
 * convert/binary.c
 *	  Values of the common types from their binary form.
 *
 * A converter makes of a field's bytes what the type's receive function would,
 * without a call through fmgr and a buffer in between.  It declines all that
 * the function would refuse, also too many bytes or too few.  numeric is in
 * convert/numeric.c.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "mb/pg_wchar.h"
#include "port/pg_bswap.h"
#include "utils/date.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "convert/convert.h"
#include "convert/types.h"

static inline uint32
fc_binary_word(const char *s)
{
	uint32		word;

	memcpy(&word, s, sizeof(word));
	return pg_ntoh32(word);
}

static inline uint64
fc_binary_long(const char *s)
{
	uint64		word;

	memcpy(&word, s, sizeof(word));
	return pg_ntoh64(word);
}

bool
fc_binary_bool(FcConverter *converter, char *s, size_t len, Datum *value)
{
	if (len != 1)
		return false;
	*value = BoolGetDatum(*s != 0);
	return true;
}

bool
fc_binary_int2(FcConverter *converter, char *s, size_t len, Datum *value)
{
	uint16		word;

	if (len != sizeof(word))
		return false;
	memcpy(&word, s, sizeof(word));
	*value = Int16GetDatum((int16) pg_ntoh16(word));
	return true;
}

bool
fc_binary_int4(FcConverter *converter, char *s, size_t len, Datum *value)
{
	if (len != sizeof(int32))
		return false;
	*value = Int32GetDatum((int32) fc_binary_word(s));
	return true;
}

bool
fc_binary_int8(FcConverter *converter, char *s, size_t len, Datum *value)
{
	if (len != sizeof(int64))
		return false;
	*value = Int64GetDatum((int64) fc_binary_long(s));
	return true;
}

bool
fc_binary_date(FcConverter *converter, char *s, size_t len, Datum *value)
{
	DateADT		date;

	if (len != sizeof(date))
		return false;
	date = (DateADT) fc_binary_word(s);
	*value = DateADTGetDatum(date);
	return DATE_NOT_FINITE(date) || IS_VALID_DATE(date);
}

bool
fc_binary_time(FcConverter *converter, char *s, size_t len, Datum *value)
{
	TimeADT		time;

	if (len != sizeof(time))
		return false;
	time = (TimeADT) fc_binary_long(s);
	*value = TimeADTGetDatum(fc_convert_round_time(converter, time));
	return time >= 0 && time <= USECS_PER_DAY;
}

/* timestamp and timestamptz, which have the same bytes and the same limits */
bool
fc_binary_timestamp(FcConverter *converter, char *s, size_t len, Datum *value)
{
	Timestamp	stamp;

	if (len != sizeof(stamp))
		return false;
	stamp = (Timestamp) fc_binary_long(s);
	if (!TIMESTAMP_NOT_FINITE(stamp))
	{
		if (!IS_VALID_TIMESTAMP(stamp))
			return false;
		stamp = fc_convert_round_time(converter, stamp);
	}
	*value = TimestampGetDatum(stamp);
	return true;
}

bool
fc_binary_uuid(FcConverter *converter, char *s, size_t len, Datum *value)
{
	char	   *result;

	if (len != UUID_LEN)
		return false;
	result = fc_convert_alloc(converter, UUID_LEN);
	memcpy(result, s, UUID_LEN);
	*value = PointerGetDatum(result);
	return true;
}

/*
 * Verified as pq_getmsgtext does it where the client's encoding is the
 * server's; for other encodings there is no converter (fc_convert_receives)
 */
static inline bool
fc_binary_is_text(const char *s, size_t len)
{
	return pg_encoding_verifymbstr(GetDatabaseEncoding(), s, len) == (int) len;
}

bool
fc_binary_text(FcConverter *converter, char *s, size_t len, Datum *value)
{
	return fc_binary_is_text(s, len) && fc_convert_text(converter, s, len, value);
}

bool
fc_binary_varchar(FcConverter *converter, char *s, size_t len, Datum *value)
{
	return fc_binary_is_text(s, len) && fc_convert_varchar(converter, s, len, value);
}

bool
fc_binary_bpchar(FcConverter *converter, char *s, size_t len, Datum *value)
{
	return fc_binary_is_text(s, len) && fc_convert_bpchar(converter, s, len, value);
}
