/*-------------------------------------------------------------------------
 *
 * reads.c
 *	  What the storage of a file gives: see bench/depth.
 *
 * reads FILE PROCESSES DEPTH
 *
 * Reads each page of the file once, in an order that is the same each time.
 * DEPTH is the number of reads that each process keeps in flight by io_uring;
 * 0: one by one, by pread; "stream": one process reads the file from its
 * beginning to its end, a megabyte at a time.  Prints the seconds.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <liburing.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE	((size_t) 4096)
#define BLOCK	((size_t) 1024 * 1024)

static int	fd;
static uint32_t *pages;			/* numbers of all whole pages, in random order */
static uint32_t npages;

static void
fail(const char *what)
{
	perror(what);
	exit(1);
}

static double
now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

static void *
memory(size_t size)
{
	void	   *at = aligned_alloc(PAGE, size);

	if (at == NULL)
		fail("memory");
	return at;
}

/* Shuffled by splitmix64 from a fixed seed */
static void
shuffle(void)
{
	uint64_t	state = 1;

	pages = memory((npages * sizeof(uint32_t) + PAGE - 1) / PAGE * PAGE);
	for (uint32_t i = 0; i < npages; i++)
	{
		uint64_t	z = (state += UINT64_C(0x9e3779b97f4a7c15));
		uint32_t	at;

		z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
		z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
		at = (z ^ (z >> 31)) % (i + 1);
		pages[i] = pages[at];
		pages[at] = i;
	}
}

static void
stream(void)
{
	char	   *buffer = memory(BLOCK);
	off_t		at = 0;
	ssize_t		n;

	while ((n = pread(fd, buffer, BLOCK, at)) > 0)
		at += n;
	if (n < 0)
		fail("read");
}

/* Every "step"th page from the first one on, one after the other */
static void
one_by_one(uint32_t first, uint32_t step)
{
	char	   *buffer = memory(PAGE);

	for (uint32_t i = first; i < npages; i += step)
		if (pread(fd, buffer, PAGE, pages[i] * (off_t) PAGE) != (ssize_t) PAGE)
			fail("read");
}

/* Asks for page "i" of the order, into the buffer of that place */
static void
ask(struct io_uring *ring, uint32_t i, char *buffers, uint32_t place)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(ring);

	if (sqe == NULL)
		fail("io_uring");
	io_uring_prep_read(sqe, fd, buffers + place * PAGE, PAGE, pages[i] * (uint64_t) PAGE);
	sqe->user_data = place;
}

/* The same, with so many in flight */
static void
in_flight(uint32_t first, uint32_t step, uint32_t depth)
{
	char	   *buffers = memory(depth * PAGE);
	uint32_t	next = first,
				flying = 0;
	struct io_uring ring;
	struct io_uring_cqe *cqe;

	if (io_uring_queue_init(depth, &ring, 0) != 0)
		fail("io_uring");
	for (; flying < depth && next < npages; next += step)
		ask(&ring, next, buffers, flying++);
	while (flying > 0)
	{
		if (io_uring_submit_and_wait(&ring, 1) < 0)
			fail("io_uring");
		while (io_uring_peek_cqe(&ring, &cqe) == 0)
		{
			uint32_t	place = cqe->user_data;

			if (cqe->res != (int) PAGE)
				fail("read");
			io_uring_cqe_seen(&ring, cqe);
			flying--;
			if (next >= npages)
				continue;
			ask(&ring, next, buffers, place);
			next += step;
			flying++;
		}
	}
	io_uring_queue_exit(&ring);
}

/* In so many processes at once */
static void
scattered(uint32_t processes, uint32_t depth)
{
	for (uint32_t i = 0; i < processes; i++)
	{
		pid_t		pid = fork();

		if (pid < 0)
			fail("fork");
		if (pid > 0)
			continue;
		if (depth == 0)
			one_by_one(i, processes);
		else
			in_flight(i, processes, depth);
		_exit(0);
	}
	for (uint32_t i = 0; i < processes; i++)
	{
		int			status;

		if (wait(&status) < 0 || status != 0)
			exit(1);
	}
}

int
main(int argc, char **argv)
{
	double		start;

	if (argc != 4 || atoi(argv[2]) < 1)
		return 2;
	fd = open(argv[1], O_RDONLY);
	if (fd < 0)
		fail(argv[1]);
	npages = lseek(fd, 0, SEEK_END) / PAGE;
	shuffle();
	start = now();
	if (strcmp(argv[3], "stream") == 0)
		stream();
	else
		scattered(atoi(argv[2]), atoi(argv[3]));
	printf("%.6f\n", now() - start);
	return 0;
}
