/*-------------------------------------------------------------------------
 *
 * fc_fallocate.c
 *	  fallocate on a disk that is full, and then has room again.
 *
 * Each call takes room for half of what is asked for, and says that there is no
 * more.  It is noted on standard error.
 *
 *-------------------------------------------------------------------------
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

typedef int (*Fallocate) (int fd, int mode, off_t offset, off_t len);

extern int	fallocate(int fd, int mode, off_t offset, off_t len) __attribute__((visibility("default")));

int
fallocate(int fd, int mode, off_t offset, off_t len)
{
	static Fallocate real = NULL;

	if (real == NULL)
		real = (Fallocate) dlsym(RTLD_NEXT, "fallocate");
	if (real(fd, mode, offset, len / 2) == 0)
		fprintf(stderr, "no room for fallocate\n");
	errno = ENOSPC;
	return -1;
}
