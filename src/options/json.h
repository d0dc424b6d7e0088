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
 * Its members as DefElems, for fc_options_take(); those that are null are left
 * out.  ERROR 42601 for a key that is no option of a call, 22023 for what is
 * no object and for a value of another type than the option has.
 */
extern List *fc_json_options(Jsonb *json);

#endif							/* FC_JSON_H */
