/*-------------------------------------------------------------------------
 *
 * copyfrom/feed_context.c
 *	  Where core's COPY is at an error: file, line, and column or record.
 *
 * The context is COPY's with the name of the file.  The line is core's where
 * core reads the file, and that of the record where core is fed records one
 * by one.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "copyfrom/core.h"
#include "copyfrom/feed.h"
#include "errors/first_error.h"

/* Returns the current record; NULL if bad bytes or line ends broke it */
static char *
fc_feed_text(const FcFeed *feed)
{
	const FcTarget *target = feed->target;
	CopyFromState cstate = feed->cstate;

	if (fc_format_is_binary(&target->options->format) || feed->unseen ||
		(feed->parsing ? !fc_parse_is_cut(feed->parser) : cstate && !cstate->line_buf_valid))
		return NULL;
	if (cstate && feed->follow && feed->parser == NULL)
		return fc_error_clip(cstate->line_buf.data, cstate->line_buf.len);
	return fc_error_record_text(target->source, target->plan, feed->offset, feed->length);
}

/*
 * Has core looked for a newline behind the carriage return that ends the line
 * before, and met bytes there that are wrong?  It was on that line still.
 */
static bool
fc_feed_peeked(const FcFeed *feed)
{
	const FcTarget *target = feed->target;

	return fc_caller_errors_as_core(target->options->caller) && !feed->follow && feed->first > 1 &&
		target->source->files[feed->file].eol == FC_EOL_CR &&
		feed->cstate->input_buf_len == 0 && feed->cstate->line_buf.len == 0 &&
		(fc_format_is_csv(&target->options->format) || feed->first == 2);
}

/*
 * Returns the current line: core's, where an error in the midst of a record is
 * about the line that core has come to.
 */
static uint64
fc_feed_line(const FcFeed *feed)
{
	const CopyFromState cstate = feed->cstate;

	if (cstate == NULL || feed->parsing ||
		!(feed->follow || (feed->middle && !cstate->line_buf_valid)))
		return feed->line;
	return cstate->cur_lineno - fc_feed_peeked(feed);
}

/* Finds the field that the parser or core converts; false if there is none */
static bool
fc_feed_field(const FcFeed *feed, const char **column, const char **value)
{
	CopyFromState cstate = feed->cstate;

	if (feed->parsing)
		return fc_parse_at(feed->parser, fc_feed_text(feed), column, value);
	if (cstate == NULL || cstate->cur_attname == NULL)
		return false;
	*column = cstate->cur_attname;
	*value = cstate->cur_attval;
	return true;
}

/* Gives the error a hint about the call; column and value may be NULL */
static void
fc_feed_hint(const FcFeed *feed, const char *column, const char *value)
{
	FcTarget   *target = feed->target;
	FcRefused	refused = {target, fc_hint_about(target->options)};

	/* most messages are of another kind, and need not have the record read */
	if (refused.what == FC_REFUSED_NOTHING)
		return;
	refused.file = feed->file;
	refused.first = fc_feed_line(feed) == (uint64) target->options->header_lines + 1;
	/* the count before the first record corrects for how COPY counts in it */
	refused.line = feed->follow ? 0 :
		feed->offset == target->source->files[feed->file].data_start && !target->source->files[feed->file].resumed ?
		target->options->header_lines + 1 : feed->first;
	refused.offset = feed->offset;
	refused.length = feed->length;
	refused.column = column;
	refused.value = value;
	refused.text = fc_feed_text(feed);
	fc_hint(&refused);
}

void
fc_feed_file_context(void *arg)
{
	const FcFeed *feed = arg;

	if (!feed->follow)
		errcontext("%s", fc_target_place(feed->target, feed->file));
}

void
fc_feed_context(void *arg)
{
	const FcFeed *feed = arg;
	FcTarget   *target = feed->target;
	char	   *where = fc_target_place(target, feed->file);
	const char *column = NULL;
	const char *value = NULL;
	bool		field;
	char	   *text;

	if (feed->silent)
		return;
	if (feed->cstate && fc_copy_relname_only(feed->cstate))
	{
		errcontext("%s", where);
		return;
	}
	where = psprintf("%s, line " UINT64_FORMAT, where, fc_feed_line(feed));
	field = fc_feed_field(feed, &column, &value);
	fc_feed_hint(feed, column, value);
	if (!field)
	{
		text = fc_feed_text(feed);
		errcontext(text ? "%s: \"%s\"" : "%s", where, text);
	}
	else if (fc_format_is_binary(&target->options->format))
		errcontext("%s, column %s", where, column);
	else if (value)
		errcontext("%s, column %s: \"%s\"", where, column,
				   fc_error_clip(value, strlen(value)));
	else
		errcontext("%s, column %s: null input", where, column);
}
