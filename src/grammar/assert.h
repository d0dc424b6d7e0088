/*-------------------------------------------------------------------------
 *
 * grammar/assert.h
 *	  Assert, as the server has it, for code that knows nothing of the server.
 *
 *-------------------------------------------------------------------------
 */
#ifndef FC_ASSERT_H
#define FC_ASSERT_H

#ifndef Assert
#ifdef USE_ASSERT_CHECKING
#include <assert.h>
#define Assert(condition)	assert(condition)
#else
#define Assert(condition)	((void) 0)
#endif
#endif

#endif							/* FC_ASSERT_H */
