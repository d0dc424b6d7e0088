/*-------------------------------------------------------------------------
 *
 * options/json.h
 *	  Options in a JSON object.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_JSON_H
#define FC_JSON_H

#include "nodes/pg_list.h"
#include "utils/jsonb.h"

/*
 * Returns the members of the object as DefElems for fc_options_take(),
 * without those that are null.  ERROR 42601 for a key that is no option of a
 * call, 22023 for a value that is no object or has another type than the
 * option.
 */
extern List *fc_json_options(Jsonb *json);

#endif							/* FC_JSON_H */
