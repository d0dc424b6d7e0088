/*-------------------------------------------------------------------------
 *
 * floor.c
 *	  What this machine takes at least for what a load must do: see bench/floor.
 *
 * floor DIRECTORY BYTES ROW
 *
 * Each line is one kind of work on so many bytes, in files of their own in the
 * directory: seconds on the clock and of processor time, megabytes a second,
 * and nanoseconds of the clock for a row of ROW bytes.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BLOCK	((size_t) 256 * 1024)	/* written at a time, as by fast_copy */
#define SEGMENT	((size_t) 16 * 1024 * 1024) /* of WAL */
#define SPILLED	((size_t) 64 * 1024)	/* a block of spilled rows */
#define STRIDE	((size_t) 7919) /* blocks, prime, between one that is read
								 * back and the next */
#define PAGE	((size_t) 4096)

typedef struct Clock
{
	double		wall;
	double		cpu;			/* of this process and of those it waited for */
} Clock;

static const char *directory;
static size_t bytes;
static size_t row;
static char *block;				/* BLOCK bytes, aligned for direct writes */
static volatile uint64_t sink;	/* takes results that nobody wants */

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static double
used(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec +
		(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static Clock
now(void)
{
	struct timespec time;
	Clock		clock;

	clock_gettime(CLOCK_MONOTONIC, &time);
	clock.wall = time.tv_sec + time.tv_nsec / 1e9;
	clock.cpu = used(RUSAGE_SELF) + used(RUSAGE_CHILDREN);
	return clock;
}

/* Prints the line of what began then, on so many bytes */
static void
tell(const char *what, Clock start, size_t size)
{
	Clock		end = now();
	double		wall = end.wall - start.wall;

	printf("  %-58s %8.3f %8.3f %9.0f %8.1f\n", what, wall, end.cpu - start.cpu,
		   size / 1e6 / wall, wall * 1e9 * row / size);
	fflush(stdout);
}

/* Opens a file of ours; -1 if that cannot be had with these flags */
static int
try_file(const char *name, int flags)
{
	char		path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return open(path, flags | O_RDWR, 0600);
}

static void
remove_file(const char *name)
{
	char		path[4096];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	if (unlink(path) != 0)
		fail(name);
}

static int
file(const char *name, int flags)
{
	int			fd = try_file(name, flags);

	if (fd < 0)
		fail(name);
	return fd;
}

/* Writes from one place of the file to another, a block at a time */
static void
put(int fd, size_t from, size_t to)
{
	for (size_t at = from; at < to; at += BLOCK)
		if (pwrite(fd, block, BLOCK, at) != (ssize_t) BLOCK)
			fail("write");
}

static void
sync_file(int fd)
{
	if (fdatasync(fd) != 0)
		fail("fdatasync");
}

/* Reads a byte of each "step" bytes */
static void
touch(const char *at, size_t step)
{
	uint64_t	sum = 0;

	for (size_t i = 0; i < bytes; i += step)
		sum += at[i];
	sink = sum;
}

/* Reads so many bytes there */
static void
get(int fd, size_t at, size_t size)
{
	if (pread(fd, block, size, at) != (ssize_t) size)
		fail("read");
}

/*
 * A cached file, as the source is read; and a temporary one, as rows are
 * spilled: its blocks are read back in another order, and it goes
 */
static void
files(void)
{
	size_t		nblocks = bytes / SPILLED;
	int			fd = file("cached", 0);
	Clock		start = now();

	for (size_t at = 0; at < bytes; at += BLOCK)
		get(fd, at, BLOCK);
	tell("a cached file, read 256 kB at a time", start, bytes);
	close(fd);
	fd = file("spill", O_CREAT | O_TRUNC);
	start = now();
	for (size_t i = 0; i < nblocks; i++)
		if (pwrite(fd, block, SPILLED, i * SPILLED) != (ssize_t) SPILLED)
			fail("write");
	tell("a temporary file, written 64 kB at a time", start, bytes);
	start = now();
	for (size_t i = 0; i < nblocks; i++)
		get(fd, i * STRIDE % nblocks * SPILLED, SPILLED);
	tell("  and read back, here and there", start, bytes);
	start = now();
	close(fd);
	remove_file("spill");
	tell("  and deleted", start, bytes);
	memset(block, 'x', BLOCK);
}

static void
memory(void)
{
	char	   *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
						  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	Clock		start;

	if (at == MAP_FAILED)
		fail("mmap");
	start = now();
	memset(at, 1, bytes);
	tell("fresh memory, written for the first time", start, bytes);
	start = now();
	memset(at, 2, bytes);
	tell("  and once more", start, bytes);
	start = now();
	for (size_t i = 0; i < bytes; i += BLOCK)
		memcpy(block, at + i, BLOCK);
	tell("  copied from there into a buffer that stays", start, bytes);
	memset(block, 'x', BLOCK);
	munmap(at, bytes);
}

/*
 * A new process touches shared memory that others have written, as a worker
 * does the server's buffers; with "around" a byte is read first of each 64 kB,
 * which the kernel then maps at once
 */
static void
share(const char *what, char *at, int around)
{
	pid_t		pid = fork();
	Clock		start;

	if (pid < 0)
		fail("fork");
	if (pid > 0)
	{
		if (waitpid(pid, NULL, 0) < 0)
			fail("waitpid");
		return;
	}
	start = now();
	if (around)
		touch(at, (size_t) 64 * 1024);
	for (size_t i = 0; i < bytes; i += PAGE)
		((volatile char *) at)[i] = 2;
	tell(what, start, bytes);
	fflush(stdout);
	_exit(0);
}

static void
shared(void)
{
	char	   *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
						  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	memset(at, 1, bytes);
	fflush(stdout);
	share("pages of shared memory, each written by a new process", at, 0);
	share("  and the same, where a byte in 64 kB is read before", at, 1);
	munmap(at, bytes);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2")))
static void
crc(void)
{
	Clock		start = now();
	uint64_t	sum = UINT32_MAX;

	for (size_t done = 0; done < bytes; done += BLOCK)
		for (size_t i = 0; i < BLOCK; i += sizeof(uint64_t))
		{
			uint64_t	word;

			memcpy(&word, block + i, sizeof(word));
			sum = __builtin_ia32_crc32di(sum, word);
		}
	sink = sum;
	tell("CRC-32C of memory that is in the processor's cache", start, bytes);
}
#else
static void
crc(void)
{
}
#endif

/* A cached file written anew over what it has, as segments of WAL are */
static void
segments(void)
{
	int			fd = file("wal", O_CREAT);
	Clock		start;

	put(fd, 0, bytes);
	sync_file(fd);
	start = now();
	put(fd, 0, bytes);
	tell("WAL into segments that are there: written to the cache", start, bytes);
	start = now();
	sync_file(fd);
	tell("  and then to the disk (fdatasync)", start, bytes);
	start = now();
	for (size_t at = 0; at < bytes; at += SEGMENT)
	{
		put(fd, at, at + SEGMENT < bytes ? at + SEGMENT : bytes);
		sync_file(fd);
	}
	tell("  or each segment of 16 MB before the next", start, bytes);
	close(fd);
}

static void
cached(void)
{
	int			fd = file("cached", O_CREAT | O_TRUNC);
	Clock		start = now();

	put(fd, 0, bytes);
	tell("pages into a new file: written to the cache", start, bytes);
	start = now();
	sync_file(fd);
	tell("  and then to the disk (fdatasync)", start, bytes);
	close(fd);
}

/*
 * Direct writes by so many processes, each into a file of its own; without a
 * line where the file system has none
 */
static void
direct(int processes)
{
	char		what[64];
	int			probe = try_file("direct.0", O_CREAT | O_TRUNC | O_DIRECT);
	Clock		start;

	if (probe < 0)
		return;
	close(probe);
	start = now();
	for (int i = 0; i < processes; i++)
	{
		pid_t		pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid == 0)
		{
			char		name[16];
			int			fd;

			snprintf(name, sizeof(name), "direct.%d", i);
			fd = file(name, O_CREAT | O_TRUNC | O_DIRECT);
			put(fd, 0, bytes / processes / BLOCK * BLOCK);
			sync_file(fd);
			_exit(0);
		}
	}
	for (int i = 0; i < processes; i++)
	{
		int			status;

		if (wait(&status) < 0 || status != 0)
			exit(1);
	}
	snprintf(what, sizeof(what), "pages into new files by direct writes, %d process%s",
			 processes, processes == 1 ? "" : "es");
	tell(what, start, bytes);
}

/* What takes all that is sent, as another server does */
static pid_t
reader(int fds[2])
{
	pid_t		pid = fork();

	if (pid == 0)
	{
		close(fds[0]);
		while (read(fds[1], block, BLOCK) > 0)
			;
		_exit(0);
	}
	if (pid < 0)
		fail("fork");
	close(fds[1]);
	return pid;
}

/* Both ends of a connection over the loopback device */
static void
loopback(int fds[2])
{
	struct sockaddr_in addr = {.sin_family = AF_INET,.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t	len = sizeof(addr);
	int			server = socket(AF_INET, SOCK_STREAM, 0);

	fds[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (server < 0 || fds[0] < 0 || bind(server, (struct sockaddr *) &addr, len) < 0 ||
		listen(server, 1) < 0 || getsockname(server, (struct sockaddr *) &addr, &len) < 0 ||
		connect(fds[0], (struct sockaddr *) &addr, len) < 0 || (fds[1] = accept(server, NULL, NULL)) < 0)
		fail("loopback");
	close(server);
}

/* Sends pieces; the processor time is that of the sender alone */
static void
sockets(const char *what, int fds[2], size_t piece)
{
	pid_t		pid = reader(fds);
	Clock		start = now();

	for (size_t at = 0; at < bytes;)
	{
		ssize_t		n = write(fds[0], block, piece);

		if (n <= 0)
			fail("write");
		at += n;
	}
	tell(what, start, bytes);
	close(fds[0]);
	waitpid(pid, NULL, 0);
}

static void
sent(void)
{
	int			fds[2];

	for (size_t piece = 8192; piece <= BLOCK / 2; piece *= 4)
	{
		char		what[100];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
			fail("socketpair");
		snprintf(what, sizeof(what), "sent to a Unix socket, %zu kB at a time", piece / 1024);
		sockets(what, fds, piece);
		loopback(fds);
		snprintf(what, sizeof(what), "sent over TCP on the loopback device, %zu kB at a time", piece / 1024);
		sockets(what, fds, piece);
	}
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	directory = argv[1];
	bytes = strtoull(argv[2], NULL, 10) / BLOCK * BLOCK;
	row = strtoull(argv[3], NULL, 10);
	block = aligned_alloc(PAGE, BLOCK);
	if (block == NULL || bytes == 0 || row == 0)
		return 2;
	memset(block, 'x', BLOCK);
	printf("  %-58s %8s %8s %9s %8s\n", "", "seconds", "CPU s", "MB/s", "ns/row");
	cached();
	direct(1);
	direct(2);
	segments();
	files();
	memory();
	shared();
	crc();
	sent();
	return 0;
}
