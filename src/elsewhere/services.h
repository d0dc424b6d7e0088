/*-------------------------------------------------------------------------
 *
 * elsewhere/services.h
 *	  All that fast_copy_cluster may call of fast_copy.
 *
 * Neither library sees the symbols of the other one, so that either can be
 * loaded first, and alone.  fast_copy hands its functions over in FcServices
 * when it asks for the other library's.  There each has the name and the
 * contract that it has here (cluster/src/cluster.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_SERVICES_H
#define FC_SERVICES_H

#include "options/plan.h"
#include "row/chunk_reader.h"
#include "row/executor.h"

/* X(result, function, parameters, arguments) */
#define FC_SERVICES(X) \
	X(void, fc_pace_wait, (FcContext *ctx), (ctx)) \
	X(void, fc_error_check_count, (FcContext *ctx, uint32 chunk, uint64 found), (ctx, chunk, found)) \
	X(ErrorData *, fc_error_evaluate, (FcContext *ctx, uint64 offset, uint64 length, FcErrorBody body, void *arg), (ctx, offset, length, body, arg)) \
	X(bool, fc_error_is_of_server, (const ErrorData *edata), (edata)) \
	X(void, fc_error_keep, (FcShared *shared, FcErrorKind kind, uint64 offset, uint64 length, const ErrorData *edata), (shared, kind, offset, length, edata)) \
	X(uint32, fc_lines_chunk, (FcShared *shared, uint64 offset), (shared, offset)) \
	X(FcEnd, fc_record_end, (FcDialect *dialect, FcScan *scan, const char *buf, size_t len, bool eof), (dialect, scan, buf, len, eof)) \
	X(int64, fc_key_from_datum, (FcKeyType type, Datum value), (type, value)) \
	X(bool, fc_key_is_infinite, (FcKeyType type, int64 key), (type, key)) \
	X(FcRoute *, fc_route_build_from, (Relation parent, PartitionDesc desc), (parent, desc)) \
	X(int, fc_route_find_existing, (const FcRoute *route, int64 key), (route, key)) \
	X(int, fc_route_number, (PartitionKey key, PartitionDesc desc, Datum *values, bool *nulls), (key, desc, values, nulls)) \
	X(bool, fc_route_possible, (Relation parent, AttrNumber *attnum), (parent, attnum)) \
	X(int, fc_option_hint, (const FcOptions *options, FcOptionNumber option), (options, option)) \
	X(bool, fc_plan_has_default, (Oid target), (target)) \
	X(FcTriggers, fc_plan_triggers, (Relation rel), (rel)) \
	X(void, fc_chunk_reader_begin, (FcChunkReader *reader, FcContext *ctx, size_t buffer), (reader, ctx, buffer)) \
	X(void, fc_chunk_reader_end, (FcChunkReader *reader), (reader)) \
	X(void, fc_chunk_reader_find, (FcChunkReader *reader, FcUnsplit unsplit), (reader, unsplit)) \
	X(bool, fc_chunk_reader_enter, (FcChunkReader *reader, uint32 chunk), (reader, chunk)) \
	X(void, fc_chunk_reader_leave, (FcChunkReader *reader), (reader)) \
	X(bool, fc_chunk_reader_refuse, (FcChunkReader *reader, FcEnd end), (reader, end)) \
	X(bool, fc_chunk_reader_skip, (FcChunkReader *reader), (reader)) \
	X(EState *, fc_executor_begin, (FcContext *ctx), (ctx)) \
	X(void, fc_executor_end, (EState *estate), (estate)) \
	X(FcParser *, fc_parse_begin, (FcContext *ctx, EState *estate, bool numbered), (ctx, estate, numbered)) \
	X(void, fc_parse_end, (FcParser *parser), (parser)) \
	X(void, fc_parse_some, (FcSome *some, const FcRecord *record, Datum *values, bool *nulls), (some, record, values, nulls)) \
	X(FcSome *, fc_parse_some_begin, (FcParser *parser, const int *fields, int n), (parser, fields, n)) \
	X(bool, fc_parse_some_quickly, (FcSome *some, const FcRecord *record, Datum *values, bool *nulls), (some, record, values, nulls)) \
	X(uint32, fc_source_number, (const FcSource *source, uint64 offset), (source, offset)) \
	X(FcEnd, fc_stream_next, (FcStream *stream, FcDialect *dialect, FcRecord *record), (stream, dialect, record))

#define FC_SERVICE(result, function, parameters, arguments) result (*function) parameters;
typedef struct FcServices
{
	FC_SERVICES(FC_SERVICE)
} FcServices;

#endif							/* FC_SERVICES_H */
