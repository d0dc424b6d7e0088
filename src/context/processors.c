/*-------------------------------------------------------------------------
 *
 * context/processors.c
 *	  How many workers a load asks for.
 *
 * A container, or a service of systemd, may have a few processors' time on a
 * machine of many: with more workers than that each would be stopped for a
 * part of the time.
 *
 * The end of the (sub)transaction closes files.  What cannot be read is no
 * limit.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <limits.h>
#include <sched.h>

#include "context/process.h"

#define FC_GROUPS	"/sys/fs/cgroup"

/* Reads up to two numbers from a file; returns how many there are */
static int
fc_quota_numbers(const char *dir, const char *name, long *first, long *second)
{
	char		path[MAXPGPATH];
	FILE	   *file;
	int			n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = AllocateFile(path, "r");
	if (file == NULL)
		return 0;
	/* version 2 writes "max" where there is no quota */
	n = fscanf(file, "%ld %ld", first, second);
	FreeFile(file);
	return Max(n, 0);
}

/* How many processors the quota of a control group is worth, rounded up */
static int
fc_quota_of(const char *dir)
{
	long		quota = 0;
	long		period = 0;
	long		none;

	if (fc_quota_numbers(dir, "cpu.max", &quota, &period) < 2 &&
		(fc_quota_numbers(dir, "cpu.cfs_quota_us", &quota, &none) < 1 ||
		 fc_quota_numbers(dir, "cpu.cfs_period_us", &period, &none) < 1))
		return INT_MAX;
	if (quota <= 0 || period <= 0)
		return INT_MAX;
	quota = (quota - 1) / period + 1;
	return (int) Min(quota, INT_MAX);
}

/* Lowers *least to the quota of a control group and of those above it */
static void
fc_quota_lower(char *dir, int *least)
{
	for (;;)
	{
		int			quota = fc_quota_of(dir);

		*least = Min(*least, quota);
		if (strlen(dir) <= strlen(FC_GROUPS))
			return;
		Assert(strncmp(dir, FC_GROUPS, strlen(FC_GROUPS)) == 0 && *least > 0);
		*strrchr(dir, '/') = '\0';
	}
}

/* Does a list of controllers with commas in between have "cpu"? */
static bool
fc_quota_is_there(const char *controllers)
{
	const char *cpu = strstr(controllers, "cpu");

	while (cpu && ((cpu > controllers && cpu[-1] != ',') || (cpu[3] != ',' && cpu[3] != '\0')))
		cpu = strstr(cpu + 3, "cpu");
	return cpu != NULL;
}

/*
 * Returns "least", or the least quota of the control groups that the process is
 * in, of version 2 and of version 1 where the kernel has it, if that is lower.
 * They are lines "number:controllers:path"; those of version 2 name no
 * controllers.  A container sees only its own group, at the root of what is
 * mounted there.
 */
static int
fc_quota(int least)
{
	FILE	   *file = AllocateFile("/proc/self/cgroup", "r");
	char		line[MAXPGPATH];
	char		dir[2 * MAXPGPATH];

	if (file == NULL)
		return least;
	while (fgets(line, sizeof(line), file) != NULL)
	{
		char	   *controllers = strchr(line, ':');
		char	   *path = controllers ? strchr(controllers + 1, ':') : NULL;

		if (path == NULL)
			continue;
		controllers++;
		*path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (*controllers != '\0' && !fc_quota_is_there(controllers))
			continue;
		snprintf(dir, sizeof(dir), "%s/%s%s", FC_GROUPS, controllers, path);
		fc_quota_lower(dir, &least);
	}
	FreeFile(file);
	return least;
}

/*
 * How many processors the server may use: the least of those online, those
 * that the process may run on, and the quota of its control group and of the
 * groups above it
 */
static int
fc_processors(void)
{
	int			processors = fc_quota((int) sysconf(_SC_NPROCESSORS_ONLN));
	cpu_set_t	set;

	/* fails where the machine has more than a set has room for */
	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		processors = Min(processors, CPU_COUNT(&set));
	return Max(processors, 1);
}

int
fc_processors_workers(int option, bool small)
{
	int			workers = option >= 0 ? option : fc_workers;

	if (workers < 0)
	{
		workers = small ? 0 : fc_processors();
		workers = Min(workers, max_parallel_workers);
	}
	return Min(workers, FC_MAX_WORKERS);
}
