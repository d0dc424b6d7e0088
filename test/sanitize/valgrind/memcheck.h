/*
 * What PostgreSQL tells valgrind of its memory, told to the address sanitizer: a
 * chunk of a memory context may be touched, what is around it may not, and a shared
 * buffer only while the process has it pinned.  In place of valgrind's own header.
 */
#ifndef FC_MEMCHECK_H
#define FC_MEMCHECK_H

#include <sanitizer/asan_interface.h>

#define VALGRIND_CHECK_MEM_IS_DEFINED(addr, size)			((void) 0)
#define VALGRIND_CREATE_MEMPOOL(context, redzones, zeroed)	((void) 0)
#define VALGRIND_DESTROY_MEMPOOL(context)					((void) 0)
#define VALGRIND_MAKE_MEM_DEFINED(addr, size)				ASAN_UNPOISON_MEMORY_REGION(addr, size)
#define VALGRIND_MAKE_MEM_NOACCESS(addr, size)				ASAN_POISON_MEMORY_REGION(addr, size)
#define VALGRIND_MAKE_MEM_UNDEFINED(addr, size)				ASAN_UNPOISON_MEMORY_REGION(addr, size)
#define VALGRIND_MEMPOOL_ALLOC(context, addr, size)			ASAN_UNPOISON_MEMORY_REGION(addr, size)
#define VALGRIND_MEMPOOL_FREE(context, addr)				((void) 0)
#define VALGRIND_MEMPOOL_CHANGE(context, optr, nptr, size)	((void) 0)

#endif
