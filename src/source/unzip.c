/*-------------------------------------------------------------------------
 *
 * source/unzip.c
 *	  Unpacks the one member of a zip file, read from its front to its end.
 *
 *	 header, data [, sizes] ──► header, data ... ──► directory ──► end
 *
 * The headers before the members tell all that is needed, so that what a
 * program prints is unpacked like a file.  The directory must have as many
 * entries: members that it lacks have been deleted.  Directories have no data,
 * and what macOS adds (__MACOSX/) is no file of the user's.  Of any other
 * second member only the name is taken, for the message; what it unpacks to is
 * dropped, a window at a time.
 *
 * Sizes, if they are not in front of the data, come after them, in four bytes
 * each or, where the header has zip64's field, in eight.
 *
 *-------------------------------------------------------------------------
 */
#include "source/unzip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(HAVE_ISAL) || defined(HAVE_ZLIB)

#define ZIP_LOCAL		0x04034b50
#define ZIP_DESCRIPTOR	0x08074b50
#define ZIP_ENTRY		0x02014b50
#define ZIP_END			0x06054b50

#define ZIP_LOCAL_SIZE	30

#define ZIP_STORED		0
#define ZIP_DEFLATED	8

/* Flags: the data are encrypted, in one way or another; sizes follow them */
#define ZIP_ENCRYPTED	(1 | 1 << 6 | 1 << 13)
#define ZIP_DESCRIBED	(1 << 3)

/* Of what is said about several members */
#define ZIP_REASON		240

typedef enum ZipState
{
	ZIP_IN_RECORD,				/* of what is no data */
	ZIP_IN_DATA,
	ZIP_IN_SIZES				/* after data */
} ZipState;

typedef struct Unzip
{
	void	   *inflate;
	ZipState	state;
	uint64_t	skip;			/* bytes that are passed over */
	bool		last;			/* the end is reached after them */
	uint64_t	headers;		/* met so far */
	uint64_t	entries;		/* of the directory */
	unsigned int members;		/* with data of the user's */

	/* the current member */
	unsigned int method;
	bool		described;
	bool		zip64;
	bool		nothing;		/* a directory, which has no data */
	bool		drops;
	uint32_t	crc;			/* as the header has it, and the sizes */
	uint64_t	packed;
	uint64_t	size;
	uint32_t	sum;			/* as found */
	uint64_t	in;
	uint64_t	out;

	char		reason[ZIP_REASON];
	size_t		want;			/* bytes of the record, as far as is known */
	size_t		have;
	unsigned char record[ZIP_LOCAL_SIZE + 2 * UINT16_MAX];
}			Unzip;

/* Goes on to the next record, after so many bytes */
static void
zip_next(Unzip *zip, uint64_t skip)
{
	zip->state = ZIP_IN_RECORD;
	zip->skip = skip;
	zip->want = 4;
	zip->have = 0;
}

void *
fc_unzip_start(size_t memory)
{
	Unzip	   *zip = malloc(sizeof(Unzip));

	if (zip == NULL)
		return NULL;
	zip->inflate = fc_gunzip_start(memory);
	if (zip->inflate && fc_unzip_restart(zip))
		return zip;
	free(zip);
	return NULL;
}

void
fc_unzip_end(void *own)
{
	fc_gunzip_end(((Unzip *) own)->inflate);
	free(own);
}

bool
fc_unzip_restart(void *own)
{
	Unzip	   *zip = own;

	zip_next(zip, 0);
	zip->headers = zip->entries = 0;
	zip->last = false;
	zip->members = 0;
	return true;
}

/* Numbers have their lowest byte first */
static uint64_t
zip_number(const unsigned char *bytes, int n)
{
	uint64_t	number = 0;

	while (n-- > 0)
		number = number << 8 | bytes[n];
	return number;
}

static FcCodecResult
zip_fails(const char **reason, const char *what)
{
	*reason = what;
	return FC_CODEC_CORRUPT;
}

/*
 * Adds the name of a member to what is said of several, without its controls;
 * false if there is no room for more of them
 */
static bool
zip_name(Unzip *zip, const unsigned char *name, size_t len)
{
	bool		first = zip->members == 1;
	size_t		at = first ? 0 : strlen(zip->reason);
	bool		room = at < ZIP_REASON / 2;

	at += (size_t) snprintf(zip->reason + at, 40, first ? "it has several members: \"" : room ? ", \"" : ", ...");
	for (size_t i = 0; room && i < len && at < ZIP_REASON - 48; i++)
		zip->reason[at++] = name[i] < ' ' || name[i] == 0x7f ? '?' : (char) name[i];
	strcpy(zip->reason + at, room ? "\"" : "");
	return room;
}

/* Takes the sizes that do not fit into the header from zip64's field */
static void
zip_extra(Unzip *zip, const unsigned char *field, const unsigned char *end)
{
	size_t		len = 0;

	zip->zip64 = false;
	for (; !zip->zip64 && end - field >= 4; field += 4 + len)
	{
		len = zip_number(field + 2, 2);
		zip->zip64 = zip_number(field, 2) == 1 && (size_t) (end - field) >= 4 + len;
	}
	/* it has both of them, in a header */
	if (zip->zip64 && len >= 16 && (zip->size == UINT32_MAX || zip->packed == UINT32_MAX))
	{
		zip->size = zip_number(field - len, 8);
		zip->packed = zip_number(field - len + 8, 8);
	}
}

/* Judges what the file had, at its end */
static FcCodecResult
zip_judge(Unzip *zip, const char **reason)
{
	if (zip->members == 1)
		return zip->entries == zip->headers ? FC_CODEC_OK :
			zip_fails(reason, "members that the directory lacks");
	*reason = zip->members == 0 ? "it has no member" : zip->reason;
	return FC_CODEC_REFUSES;
}

/* Begins a member, whose header is there with its name and its fields */
static FcCodecResult
zip_member(Unzip *zip, const char **reason)
{
	const unsigned char *head = zip->record;
	const unsigned char *name = head + ZIP_LOCAL_SIZE;
	size_t		len = zip_number(head + 26, 2);
	unsigned int flags = (unsigned int) zip_number(head + 6, 2);

	zip->headers++;
	zip->method = (unsigned int) zip_number(head + 8, 2);
	zip->described = (flags & ZIP_DESCRIBED) != 0;
	zip->crc = (uint32_t) zip_number(head + 14, 4);
	zip->packed = zip_number(head + 18, 4);
	zip->size = zip_number(head + 22, 4);
	zip_extra(zip, name + len, head + zip->want);
	zip->sum = 0;
	zip->in = zip->out = 0;
	zip->nothing = len > 0 && name[len - 1] == '/';
	zip->drops = zip->nothing || (len > 9 && memcmp(name, "__MACOSX/", 9) == 0);
	if (!zip->drops)
	{
		zip->members++;
		if (!zip_name(zip, name, len))
			return zip_judge(zip, reason);
		zip->drops = zip->members > 1;
	}
	zip->state = ZIP_IN_DATA;
	zip->have = 0;
	if ((flags & ZIP_ENCRYPTED) != 0)
		*reason = "its data are encrypted";
	else if (zip->method != ZIP_STORED && zip->method != ZIP_DEFLATED)
		*reason = "its data are packed by a method other than deflate";
	else if (zip->method == ZIP_STORED && zip->described && zip->packed == 0 && !zip->nothing)
		*reason = "its data are stored without their size before them";
	else
		return fc_gunzip_bare(zip->inflate) ? FC_CODEC_OK : FC_CODEC_OUT_OF_MEMORY;
	return FC_CODEC_REFUSES;
}

/* What records begin with, their bytes, and where the size of the rest is */
static const struct
{
	uint32_t	begins;
	size_t		len;
	int			at;
	int			bytes;			/* of each size */
	int			sizes;
}			zip_records[] = {
	{ZIP_LOCAL, 30, 26, 2, 2},
	{ZIP_ENTRY, 46, 28, 2, 3},
	{ZIP_END, 22, 20, 2, 1},
	{0x06064b50, 12, 4, 8, 1},	/* zip64's end */
	{0x07064b50, 20, 0, 0, 0},	/* where that is */
	{0x08064b50, 8, 4, 4, 1},	/* data for the archive */
	{0x05054b50, 6, 4, 2, 1}	/* a signature */
};

/* Takes a record as far as it is there; asks for more of it, or goes on */
static FcCodecResult
zip_record(Unzip *zip, const char **reason)
{
	uint32_t	begins = (uint32_t) zip_number(zip->record, 4);
	size_t		i = 0;
	uint64_t	rest = 0;

	while (i < sizeof(zip_records) / sizeof(zip_records[0]) && zip_records[i].begins != begins)
		i++;
	if (i == sizeof(zip_records) / sizeof(zip_records[0]))
		return zip_fails(reason, "invalid header");
	zip->want = zip_records[i].len;
	if (zip->have < zip->want)
		return FC_CODEC_OK;
	for (int n = 0; n < zip_records[i].sizes; n++)
		rest += zip_number(zip->record + zip_records[i].at + n * zip_records[i].bytes, zip_records[i].bytes);
	if (begins == ZIP_LOCAL)
	{
		zip->want += rest;
		return zip->have < zip->want ? FC_CODEC_OK : zip_member(zip, reason);
	}
	zip->last = (begins == ZIP_END);
	zip->entries += (begins == ZIP_ENTRY);
	zip_next(zip, rest);
	return zip->last ? zip_judge(zip, reason) : FC_CODEC_OK;
}

/* Compares what was found with the sizes, once they are known */
static FcCodecResult
zip_compare(Unzip *zip, const char **reason)
{
	if (zip->state == ZIP_IN_SIZES)
	{
		bool		marked = zip_number(zip->record, 4) == ZIP_DESCRIPTOR;
		const unsigned char *at = zip->record + (marked ? 4 : 0);
		int			bytes = zip->zip64 ? 8 : 4;
		size_t		len = (marked ? 4 : 0) + 4 + 2 * (size_t) bytes;

		if (zip->have < len)
		{
			zip->want = len;
			return FC_CODEC_OK;
		}
		zip->crc = (uint32_t) zip_number(at, 4);
		zip->packed = zip_number(at + 4, bytes);
		zip->size = zip_number(at + 4 + bytes, bytes);
	}
	if (zip->sum != zip->crc)
		return zip_fails(reason, "incorrect data check");
	if (zip->in != zip->packed || zip->out != zip->size || (zip->nothing && zip->out > 0))
		return zip_fails(reason, "incorrect length");
	zip_next(zip, 0);
	return FC_CODEC_OK;
}

/* Puts some of a member's data; *end: that was all of them */
static FcCodecResult
zip_data(Unzip *zip, FcCodecIo *io, bool *end, const char **reason)
{
	bool		bounded = !zip->described || zip->method == ZIP_STORED;
	size_t		in_len = io->in_len;
	size_t		in = io->in_pos;
	size_t		out = io->out_pos;
	FcCodecResult result = FC_CODEC_OK;

	if (bounded && io->in_len - in > zip->packed - zip->in)
		io->in_len = in + (size_t) (zip->packed - zip->in);
	if (zip->method == ZIP_DEFLATED)
		result = fc_gunzip_step(zip->inflate, io, end, reason);
	else
	{
		size_t		n = io->in_len - in < io->out_len - out ? io->in_len - in : io->out_len - out;

		memcpy(io->out + out, io->in + in, n);
		io->in_pos += n;
		io->out_pos += n;
		*end = (zip->in + n == zip->packed);
	}
	io->in_len = in_len;
	zip->in += io->in_pos - in;
	zip->out += io->out_pos - out;
	zip->sum = fc_gunzip_sum(zip->sum, io->out + out, io->out_pos - out);
	if (zip->drops)
		io->out_pos = out;
	if (!*end || result != FC_CODEC_OK)
		return result;
	/* the library may have taken some of what follows */
	zip->have = zip->method == ZIP_DEFLATED ? fc_gunzip_rest(zip->inflate, zip->record) : 0;
	zip->in -= zip->have;
	if (!zip->described)
		return zip->have > 0 ? zip_fails(reason, "incorrect length") : zip_compare(zip, reason);
	zip->state = ZIP_IN_SIZES;
	zip->want = 4;
	return FC_CODEC_OK;
}

/*
 * Passes over bytes, or adds them to the record; false if the input ends before
 * all of them are there
 */
static bool
zip_collect(Unzip *zip, FcCodecIo *io)
{
	uint64_t	wanted = zip->skip > 0 ? zip->skip :
		zip->have < zip->want ? zip->want - zip->have : 0;
	size_t		left = io->in_len - io->in_pos;
	size_t		n = left < wanted ? left : (size_t) wanted;

	if (zip->skip > 0)
		zip->skip -= n;
	else
	{
		memcpy(zip->record + zip->have, io->in + io->in_pos, n);
		zip->have += n;
	}
	io->in_pos += n;
	return n == wanted;
}

FcCodecResult
fc_unzip_step(void *own, FcCodecIo *io, bool *end, const char **reason)
{
	Unzip	   *zip = own;
	FcCodecResult result = FC_CODEC_OK;

	while (result == FC_CODEC_OK && !*end)
	{
		uint64_t	out = zip->out;
		bool		ended = false;

		if (zip->state == ZIP_IN_DATA)
		{
			result = zip_data(zip, io, &ended, reason);
			/* what is dropped leaves room for more of it */
			if (!ended && !(zip->drops && zip->out > out))
				break;
			continue;
		}
		if (!zip_collect(zip, io))
			break;
		if (zip->have >= zip->want)
			result = zip->state == ZIP_IN_SIZES ? zip_compare(zip, reason) : zip_record(zip, reason);
		*end = result == FC_CODEC_OK && zip->last && zip->skip == 0;
	}
	return result;
}

#endif							/* HAVE_ISAL, HAVE_ZLIB */
