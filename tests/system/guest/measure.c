// SPDX-License-Identifier: GPL-2.0-only
/*
 * measure CASE PAIRS [--fresh] [--cgroup DIR] [--until COUNTER N]
 *         [--quiet FILE VALUE...] --arm NAME [FILE VALUE]... ... -- LOAD...
 *
 * Runs one load (--fresh: one for each interval) and, while it runs, one arm after the other: writes the arm's
 * VALUEs to its FILEs, lets that settle, reads the kernel's counters, waits for
 * an interval of the load, and reads them again. The arms take turns PAIRS
 * times, in alternating order (A B, B A, A B). While the load sets up, and
 * while it checks, the files of --quiet have their values instead. With --until
 * an interval is repeated until COUNTER of /proc/vmstat grew by N, so that a
 * slow machine does not judge by a handful of pages. Prints a line of JSON with what
 * grew in each interval, and one with what the load's pages held at the end.
 *
 * A reading is /proc/interrupts, /proc/vmstat, /proc/interrupts again: while
 * CPUs keep receiving interrupts the two files can never show one instant, but
 * the two readings of the TLB row enclose whatever vmstat said. Deltas of the
 * rows are taken CPU by CPU, modulo 2^32.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CPUS	64U
#define MAX_COUNTERS	512U
#define FILE_BYTES	(256U << 10)
#define MAX_ARMS	3
#define MAX_WRITES	4
/* Setting up, an interval, checking: none takes longer than this. */
#define STEP_TIMEOUT_S	240U
/* How often an interval is repeated for --until. */
#define MAX_REPEATS	15
/* After a policy was changed, until it is what happens. */
#define SETTLE_US	300000U

struct row {
	unsigned int cpus;
	uint32_t count[MAX_CPUS];
};

struct counter {
	char name[48];
	uint64_t value;
};

struct reading {
	struct row tlb_before, tlb_after;	/* around vmstat */
	struct row cal;
	unsigned int counters;
	struct counter counter[MAX_COUNTERS];
};

static struct reading start, stop;

__attribute__((noreturn))
static void die(const char *what)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static char *file_read(const char *path)
{
	static char text[FILE_BYTES];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		die(path);
	while ((n = read(fd, text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	if (n < 0 || used == sizeof(text) - 1)
		die(path);
	close(fd);
	text[used] = '\0';
	return text;
}

/* "TLB:  12  34   TLB shootdowns": one number a CPU, then the description. */
static void row_parse(const char *text, const char *label, struct row *ret)
{
	const char *at = strstr(text, label);
	char *end;

	ret->cpus = 0;
	if (!at)
		return;
	for (at += strlen(label); ret->cpus < MAX_CPUS; at = end) {
		while (*at == ' ')
			at++;
		if (!isdigit((unsigned char)*at))
			break;
		ret->count[ret->cpus++] = (uint32_t)strtoul(at, &end, 10);
	}
}

static void vmstat_parse(char *text, struct reading *ret)
{
	char *save = NULL;

	ret->counters = 0;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct counter *c = &ret->counter[ret->counters];
		unsigned long long value;

		if (ret->counters == MAX_COUNTERS || sscanf(line, "%47s %llu", c->name, &value) != 2) {
			errno = EINVAL;
			die("/proc/vmstat");
		}
		c->value = value;
		ret->counters++;
	}
}

static void reading_take(struct reading *ret)
{
	row_parse(file_read("/proc/interrupts"), "TLB:", &ret->tlb_before);
	vmstat_parse(file_read("/proc/vmstat"), ret);
	row_parse(file_read("/proc/interrupts"), "TLB:", &ret->tlb_after);
	row_parse(file_read("/proc/interrupts"), "CAL:", &ret->cal);
}

static uint64_t row_delta(const struct row *from, const struct row *to)
{
	uint64_t sum = 0;

	if (!from->cpus || from->cpus != to->cpus) {
		errno = EINVAL;
		die("rows of /proc/interrupts");
	}
	for (unsigned int i = 0; i < from->cpus; i++)
		sum += (uint32_t)(to->count[i] - from->count[i]);
	return sum;
}

/* Most nr_* are levels, but nr_tlb_* are events. */
static bool is_event(const char *name)
{
	if (!strcmp(name, "workingset_nodes"))
		return false;
	return strncmp(name, "nr_", 3) || !strncmp(name, "nr_tlb_", 7);
}

static void print_deltas(void)
{
	const char *comma = "";

	printf("\"vmstat\":{");
	for (unsigned int i = 0; i < start.counters && i < stop.counters; i++) {
		const struct counter *a = &start.counter[i], *b = &stop.counter[i];

		if (strcmp(a->name, b->name)) {
			errno = EINVAL;
			die("/proc/vmstat changed its lines");
		}
		/* Our own counters are told even when they did not move. */
		if (!is_event(a->name) ||
		    (a->value == b->value && strncmp(a->name, "tlb_", 4)))
			continue;
		printf("%s\"%s\":%llu", comma, a->name, (unsigned long long)(b->value - a->value));
		comma = ",";
	}
	printf("}");
}

/* --- the load ------------------------------------------------------------ */

static void cgroup_join(const char *dir)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0\n", 2) != 2)
		die(path);
	close(fd);
}

static pid_t load_start(const char *cgroup, char **argv, FILE **ret_to, FILE **ret_from)
{
	int to[2], from[2];
	pid_t pid;

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		die("pipe2");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid == 0) {
		/* Its own group, so that a timeout reaches all its processes. */
		setpgid(0, 0);
		if (cgroup)
			cgroup_join(cgroup);
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execv(argv[0], argv);
		die(argv[0]);
	}
	close(to[0]);
	close(from[1]);
	*ret_to = fdopen(to[1], "w");
	*ret_from = fdopen(from[0], "r");
	if (!*ret_to || !*ret_from)
		die("fdopen");
	return pid;
}

static pid_t load_pid;

static void on_timeout(int signal_number)
{
	static const char text[] = "measure: the load did not answer in time\n";

	(void)signal_number;
	kill(-load_pid, SIGKILL);
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILURE);
	_exit(EXIT_FAILURE);
}

static void tell(FILE *to, const char *line)
{
	if (fputs(line, to) < 0 || fflush(to))
		die("load");
}

/* The load's next line; it must start as said. */
static const char *answer(FILE *from, const char *start_with)
{
	static char line[128];

	alarm(STEP_TIMEOUT_S);
	if (!fgets(line, sizeof(line), from)) {
		errno = EPIPE;
		die("load");
	}
	alarm(0);
	if (strncmp(line, start_with, strlen(start_with))) {
		errno = EPROTO;
		die(line);
	}
	return line;
}

/* --- arms ---------------------------------------------------------------- */

struct arm {
	const char *name;
	unsigned int writes;
	const char *file[MAX_WRITES], *value[MAX_WRITES];
};

struct plan {
	const char *name;		/* of the case */
	unsigned int pairs;
	bool fresh;			/* a new load for each interval */
	const char *cgroup;
	const char *counter;		/* must grow by this in an interval */
	uint64_t growth;
	struct arm quiet;		/* while nothing is measured */
	unsigned int arms;
	struct arm arm[MAX_ARMS];
	char **load;
};

static void arm_choose(const struct arm *arm)
{
	for (unsigned int i = 0; i < arm->writes; i++) {
		int fd = open(arm->file[i], O_WRONLY | O_CLOEXEC);

		if (fd < 0 || write(fd, arm->value[i], strlen(arm->value[i])) < 0)
			die(arm->file[i]);
		close(fd);
	}
}

static uint64_t counter_growth(const char *name)
{
	for (unsigned int i = 0; i < start.counters; i++)
		if (!strcmp(start.counter[i].name, name))
			return stop.counter[i].value - start.counter[i].value;
	errno = ENOENT;
	die(name);
}

static void arm_measure(const struct plan *plan, const struct arm *arm,
			unsigned int pair, FILE *to, FILE *from)
{
	unsigned long long ops = 0;
	unsigned int repeat = 0;
	double seconds = 0;

	arm_choose(arm);
	usleep(SETTLE_US);
	reading_take(&start);
	do {
		unsigned long long more_ops;
		double more_seconds;
		const char *line;

		tell(to, "go\n");
		line = answer(from, "done ");
		if (sscanf(line, "done %llu %lf", &more_ops, &more_seconds) != 2)
			die(line);
		ops += more_ops;
		seconds += more_seconds;
		reading_take(&stop);
	} while (plan->counter && counter_growth(plan->counter) < plan->growth &&
		 ++repeat < MAX_REPEATS);

	printf("{\"case\":\"%s\",\"arm\":\"%s\",\"pair\":%u,\"ops\":%llu,\"seconds\":%.3f,",
	       plan->name, arm->name, pair, ops, seconds);
	printf("\"tlb\":%llu,\"tlb_low\":%llu,\"tlb_high\":%llu,\"cal\":%llu,",
	       (unsigned long long)row_delta(&start.tlb_after, &stop.tlb_after),
	       (unsigned long long)row_delta(&start.tlb_after, &stop.tlb_before),
	       (unsigned long long)row_delta(&start.tlb_before, &stop.tlb_after),
	       (unsigned long long)row_delta(&start.cal, &stop.cal));
	print_deltas();
	printf("}\n");
	fflush(stdout);
}

/* FILE VALUE pairs of an arm; returns where they end. */
static int arm_parse(int argc, char **argv, int at, struct arm *ret)
{
	for (; at + 1 < argc && argv[at][0] == '/' && ret->writes < MAX_WRITES; at += 2) {
		ret->file[ret->writes] = argv[at];
		ret->value[ret->writes++] = argv[at + 1];
	}
	return at;
}

static bool plan_parse(int argc, char **argv, struct plan *ret)
{
	int at = 3;

	if (argc < 4)
		return false;
	*ret = (struct plan) { .name = argv[1], .pairs = (unsigned int)atoi(argv[2]) };
	if (!strcmp(argv[at], "--fresh")) {
		ret->fresh = true;
		at++;
	}
	if (!strcmp(argv[at], "--cgroup") && at + 1 < argc) {
		ret->cgroup = argv[at + 1];
		at += 2;
	}
	if (!strcmp(argv[at], "--until") && at + 2 < argc) {
		ret->counter = argv[at + 1];
		ret->growth = strtoull(argv[at + 2], NULL, 10);
		at += 3;
	}
	if (!strcmp(argv[at], "--quiet"))
		at = arm_parse(argc, argv, at + 1, &ret->quiet);
	while (at + 1 < argc && !strcmp(argv[at], "--arm") && ret->arms < MAX_ARMS) {
		struct arm *arm = &ret->arm[ret->arms++];

		arm->name = argv[at + 1];
		at = arm_parse(argc, argv, at + 2, arm);
	}
	if (at + 1 >= argc || strcmp(argv[at], "--"))
		return false;
	ret->load = argv + at + 1;
	return ret->pairs && ret->arms;
}

static FILE *load_to, *load_from;

static void load_begin(const struct plan *plan)
{
	arm_choose(&plan->quiet);
	load_pid = load_start(plan->cgroup, plan->load, &load_to, &load_from);
	answer(load_from, "ready");
}

/* Lets the load check its pages. Returns false if it did not end well. */
static bool load_end(const struct plan *plan)
{
	unsigned long long pages, bad;
	const char *line;
	int status;

	arm_choose(&plan->quiet);
	tell(load_to, "verify\n");
	line = answer(load_from, "verified ");
	if (sscanf(line, "verified %llu %llu", &pages, &bad) != 2)
		die(line);
	alarm(STEP_TIMEOUT_S);
	if (waitpid(load_pid, &status, 0) != load_pid)
		die("waitpid");
	alarm(0);
	fclose(load_to);
	fclose(load_from);
	printf("{\"case\":\"%s\",\"verified\":%llu,\"bad\":%llu,\"status\":%d}\n",
	       plan->name, pages, bad, status);
	return !status;
}

int main(int argc, char **argv)
{
	struct plan plan;
	bool good = true;

	if (!plan_parse(argc, argv, &plan)) {
		fprintf(stderr, "usage: measure CASE PAIRS [--fresh] [--cgroup DIR] [--until COUNTER N] [--quiet FILE VALUE...] --arm NAME [FILE VALUE]... -- LOAD...\n");
		return 2;
	}
	signal(SIGALRM, on_timeout);
	signal(SIGPIPE, SIG_IGN);
	if (!plan.fresh)
		load_begin(&plan);
	for (unsigned int pair = 1; pair <= plan.pairs; pair++) {
		for (unsigned int i = 0; i < plan.arms; i++) {
			unsigned int turn = pair % 2 ? i : plan.arms - 1 - i;

			fprintf(stderr, "lab: case %s, pair %u, %s\n", plan.name, pair,
				plan.arm[turn].name);
			if (plan.fresh)
				load_begin(&plan);
			arm_measure(&plan, &plan.arm[turn], pair, load_to, load_from);
			if (plan.fresh)
				good &= load_end(&plan);
		}
	}
	if (!plan.fresh)
		good &= load_end(&plan);
	return fflush(stdout) || !good ? EXIT_FAILURE : EXIT_SUCCESS;
}
