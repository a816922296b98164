// SPDX-License-Identifier: GPL-2.0-only
/*
 * load - processes and threads that keep writing pages, and check every one
 *
 * A region of memory is cut into one slice a thread. Each thread sweeps over
 * its slice again and again: it writes a page's generation, then reads a word
 * of the page back and compares. At the end every word of every page is
 * compared with what was written last. Where the memory comes from, where the
 * threads run and whether they move decides what the kernel has to do.
 *
 * Run by measure, over stdin and stdout, one line each:
 *   load: ready             every page is written, every thread runs
 *   measure: go             as often as it likes:
 *   load: done OPS SECONDS  what was done since
 *   measure: verify         the threads stop and compare
 *   load: verified PAGES BAD
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE_BYTES	4096UL
#define PAGE_WORDS	(PAGE_BYTES / sizeof(uint64_t))
#define HUGE_BYTES	(2UL << 20)
#define HUGE_PAGES	(HUGE_BYTES / PAGE_BYTES)
/* With --partial each 2 MiB keeps this many pages; the rest is given back. */
#define PARTIAL_PAGES	448UL
#define MAX_WORKERS	128U
/* Repeats inside a page let the compressed swap do its work, about 4 : 1. */
#define PATTERN_WORDS	128U

enum map_kind { MAP_KIND_PRIVATE, MAP_KIND_SHARED };

struct options {
	unsigned int procs;	/* processes */
	unsigned int threads;	/* threads of each process */
	size_t mib;		/* whole region, over all processes */
	enum map_kind map;
	bool private_slices;	/* shared: each process maps its own part only */
	bool pin;		/* one CPU a worker */
	bool remote_first;	/* first touch from the other node's CPU */
	bool huge;		/* MADV_HUGEPAGE before the first touch */
	bool partial;		/* then give back part of each 2 MiB */
	unsigned int move_ms;	/* change the node this often, 0: never */
	unsigned int chase_percent; /* ... or once this share of pages is local */
	unsigned int seconds;	/* length of a measured interval */
	unsigned int until_percent; /* end when this share of pages is local */
	size_t lock_mib;	/* memory taken out of the machine first */
	bool damage;		/* spoil one word at the end: must be found */
};

/* What one worker found, in memory shared by all processes. */
struct result {
	_Atomic uint64_t ops;	/* pages written; read while it grows */
	uint64_t pages;		/* pages compared at the end */
	uint64_t bad;		/* of these, not what was written */
};

struct control {
	pthread_barrier_t barrier;	/* all workers and the coordinator */
	atomic_bool stop;
	atomic_uint side;		/* 0: home CPUs, 1: the other node's */
	struct result results[MAX_WORKERS];
};

struct worker {
	unsigned int id;		/* over all processes */
	uint64_t *base;			/* its slice */
	size_t pages;
	uint64_t first_index;		/* makes each page's pattern unique */
	/* The page at position `next` and all behind it hold `pass - 1`. */
	uint64_t pass;
	size_t next;
};

static struct options opt = {
	.procs = 1, .threads = 1, .mib = 64, .seconds = 5,
};
static struct control *control;
static unsigned int cpu_count;

__attribute__((format(printf, 1, 2), noreturn))
static void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("load: ", stderr);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(errno));
	exit(EXIT_FAILURE);
}

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec ts = {
		.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L,
	};

	nanosleep(&ts, NULL);
}

/* --- where threads run --------------------------------------------------- */

/*
 * The guest numbers its CPUs node by node, half on each of two nodes: the
 * first half of the workers lives on node 0, and half the CPUs further on is
 * the same place on the other node.
 */
static void pin_worker(unsigned int id, unsigned int side)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((id + side * cpu_count / 2) % cpu_count, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static int worker_node(unsigned int id, unsigned int side)
{
	return (id + side * cpu_count / 2) % cpu_count < cpu_count / 2 ? 0 : 1;
}

/* --- what pages hold ----------------------------------------------------- */

static uint64_t pattern(uint64_t page_index, size_t word)
{
	uint64_t x = page_index * PATTERN_WORDS + word % PATTERN_WORDS + 1;

	x *= 0x9e3779b97f4a7c15ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ (x >> 32);
}

static bool page_kept(size_t position)
{
	return !opt.partial || position % HUGE_PAGES < PARTIAL_PAGES;
}

static uint64_t *page_at(const struct worker *w, size_t position)
{
	return w->base + position * PAGE_WORDS;
}

/* The first and last word hold the generation, the others the pattern. */
static void page_fill(const struct worker *w, size_t position)
{
	uint64_t *page = page_at(w, position);

	page[0] = 0;
	for (size_t i = 1; i < PAGE_WORDS - 1; i++)
		page[i] = pattern(w->first_index + position, i);
	page[PAGE_WORDS - 1] = 0;
}

static bool page_good(const struct worker *w, size_t position)
{
	const uint64_t *page = page_at(w, position);
	uint64_t generation = position < w->next ? w->pass : w->pass - 1;

	if (page[0] != generation || page[PAGE_WORDS - 1] != generation)
		return false;
	for (size_t i = 1; i < PAGE_WORDS - 1; i++)
		if (page[i] != pattern(w->first_index + position, i))
			return false;
	return true;
}

/* --- the work ------------------------------------------------------------ */

static void barrier_wait(void)
{
	int r = pthread_barrier_wait(&control->barrier);

	if (r && r != PTHREAD_BARRIER_SERIAL_THREAD) {
		errno = r;
		die("pthread_barrier_wait");
	}
}

static void slice_fill(struct worker *w)
{
	for (size_t i = 0; i < w->pages; i++)
		page_fill(w, i);
	if (!opt.partial)
		return;
	for (size_t i = PARTIAL_PAGES; i < w->pages; i += HUGE_PAGES)
		if (madvise(page_at(w, i), (HUGE_PAGES - PARTIAL_PAGES) * PAGE_BYTES,
			    MADV_DONTNEED))
			die("madvise(MADV_DONTNEED)");
}

static void slice_sweep(struct worker *w, struct result *result)
{
	unsigned int side = 0;

	while (!atomic_load_explicit(&control->stop, memory_order_relaxed)) {
		unsigned int wanted = atomic_load_explicit(&control->side,
							   memory_order_relaxed);
		size_t position = w->next;

		if (wanted != side) {
			side = wanted;
			pin_worker(w->id, side);
		}
		if (page_kept(position)) {
			volatile uint64_t *page = page_at(w, position);
			size_t probe = 1 + (position + w->pass) % (PAGE_WORDS - 2);

			page[0] = w->pass;
			page[PAGE_WORDS - 1] = w->pass;
			if (page[probe] != pattern(w->first_index + position, probe))
				result->bad++;
			atomic_fetch_add_explicit(&result->ops, 1, memory_order_relaxed);
		}
		if (++w->next == w->pages) {
			w->next = 0;
			w->pass++;
		}
	}
}

static void slice_verify(struct worker *w, struct result *result)
{
	for (size_t i = 0; i < w->pages; i++) {
		if (!page_kept(i))
			continue;
		result->pages++;
		if (!page_good(w, i))
			result->bad++;
	}
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct result *result = &control->results[w->id];

	if (opt.pin)
		pin_worker(w->id, opt.remote_first ? 1 : 0);
	slice_fill(w);
	if (opt.pin)
		pin_worker(w->id, 0);
	barrier_wait();
	slice_sweep(w, result);
	barrier_wait();
	if (opt.damage && w->id == 0)
		page_at(w, w->pages / 2)[PAGE_WORDS / 2] ^= 1;
	slice_verify(w, result);
	return NULL;
}

/* --- memory -------------------------------------------------------------- */

static uint64_t *region_map(size_t bytes)
{
	int flags = MAP_ANONYMOUS | (opt.map == MAP_KIND_SHARED ? MAP_SHARED : MAP_PRIVATE);
	char *raw = mmap(NULL, bytes + HUGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
	char *base;

	if (raw == MAP_FAILED)
		die("mmap of %zu bytes", bytes);
	/* Huge pages need their own alignment; the spare ends stay untouched. */
	base = raw + (HUGE_BYTES - (uintptr_t)raw % HUGE_BYTES) % HUGE_BYTES;
	if (madvise(base, bytes, opt.huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) && opt.huge)
		die("madvise(MADV_HUGEPAGE)");
	return (uint64_t *)base;
}

/* Memory taken away from both nodes alike, so that little is left. */
static void hog_lock(size_t bytes)
{
	const unsigned long both_nodes = 3;
	char *hog;

	if (!bytes)
		return;
	hog = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (hog == MAP_FAILED)
		die("mmap of %zu bytes", bytes);
	if (syscall(SYS_mbind, hog, bytes, MPOL_INTERLEAVE, &both_nodes, 64UL, 0U))
		die("mbind");
	if (mlock(hog, bytes))
		die("mlock of %zu bytes", bytes);
}

/* Maps every page of a shared region here too, without owning it. */
static void region_read(const uint64_t *region, size_t bytes)
{
	volatile const uint64_t *words = region;

	for (size_t i = 0; i < bytes / sizeof(*region); i += PAGE_WORDS)
		(void)words[i];
}

/* --- processes ----------------------------------------------------------- */

static void process_run(unsigned int proc, uint64_t *region, size_t slice_bytes)
{
	struct worker *workers = calloc(opt.threads, sizeof(*workers));
	pthread_t *threads = calloc(opt.threads, sizeof(*threads));

	if (!workers || !threads)
		die("calloc");
	for (unsigned int t = 0; t < opt.threads; t++) {
		unsigned int id = proc * opt.threads + t;
		/* A private region holds the slices of one process only. */
		size_t slot = opt.map == MAP_KIND_SHARED ? id : t;

		workers[t] = (struct worker) {
			.id = id,
			.base = region + slot * slice_bytes / sizeof(*region),
			.pages = slice_bytes / PAGE_BYTES,
			.first_index = (uint64_t)id * slice_bytes / PAGE_BYTES,
			.pass = 1,
		};
		errno = pthread_create(&threads[t], NULL, worker_main, &workers[t]);
		if (errno)
			die("pthread_create");
	}
	for (unsigned int t = 0; t < opt.threads; t++)
		pthread_join(threads[t], NULL);
}

/*
 * The share of pages on the node where their worker is now, in percent, from
 * every 32nd page; move_pages() without target nodes only asks. Works for the caller's
 * own pages, so only with one process.
 */
static unsigned int local_share(uint64_t *region, size_t slice_bytes)
{
	enum { STEP = 32 };
	unsigned int side = atomic_load(&control->side);
	size_t per_slice = slice_bytes / PAGE_BYTES / STEP;
	size_t count = per_slice * opt.threads, local = 0, known = 0;
	void **pages = calloc(count, sizeof(*pages));
	int *status = calloc(count, sizeof(*status));

	if (!pages || !status)
		die("calloc");
	for (size_t i = 0; i < count; i++)
		pages[i] = region + i / per_slice * slice_bytes / sizeof(*region) +
			   i % per_slice * STEP * PAGE_WORDS;
	if (syscall(SYS_move_pages, 0, count, pages, NULL, status, 0) < 0)
		die("move_pages");
	for (size_t i = 0; i < count; i++) {
		if (status[i] < 0)
			continue;
		known++;
		if (status[i] == worker_node((unsigned int)(i / per_slice), side))
			local++;
	}
	free(pages);
	free(status);
	return known ? (unsigned int)(local * 100 / known) : 0;
}

static void change_node(void)
{
	atomic_fetch_xor(&control->side, 1U);
}

/* Lets one measured interval pass, moving the workers when asked to. */
static void interval_pass(uint64_t *region, size_t slice_bytes)
{
	double start = now_seconds();
	double next_move = start + opt.move_ms / 1000.0;

	while (now_seconds() - start < opt.seconds) {
		unsigned int local = 0;

		sleep_ms(50);
		if (opt.until_percent || opt.chase_percent)
			local = local_share(region, slice_bytes);
		if (opt.until_percent && local >= opt.until_percent)
			break;
		if (opt.chase_percent && local >= opt.chase_percent)
			change_node();
		if (opt.move_ms && now_seconds() >= next_move) {
			change_node();
			next_move += opt.move_ms / 1000.0;
		}
	}
}

static uint64_t ops_sum(void)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < opt.procs * opt.threads; i++)
		sum += atomic_load_explicit(&control->results[i].ops, memory_order_relaxed);
	return sum;
}

static void coordinate(uint64_t *region, size_t slice_bytes)
{
	char line[32];

	barrier_wait();
	puts("ready");
	while (fgets(line, sizeof(line), stdin) && !strcmp(line, "go\n")) {
		double start = now_seconds();
		uint64_t ops = ops_sum();

		interval_pass(region, slice_bytes);
		printf("done %llu %.3f\n", (unsigned long long)(ops_sum() - ops),
		       now_seconds() - start);
	}
	if (strcmp(line, "verify\n")) {
		errno = EPROTO;
		die("\"%s\" instead of \"verify\"", line);
	}
	atomic_store(&control->stop, true);
	barrier_wait();
}

static void control_init(void)
{
	pthread_barrierattr_t attr;

	control = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (control == MAP_FAILED)
		die("mmap");
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	errno = pthread_barrier_init(&control->barrier, &attr,
				     opt.procs * opt.threads + 1);
	if (errno)
		die("pthread_barrier_init");
}

static void *coordinator_main(void *arg)
{
	uint64_t *region = arg;

	coordinate(region, (opt.mib << 20) / opt.threads);
	return NULL;
}

/* One process: the coordinator is a thread, so that it can ask about pages. */
static void run_one_process(void)
{
	uint64_t *region = region_map(opt.mib << 20);
	pthread_t coordinator;

	errno = pthread_create(&coordinator, NULL, coordinator_main, region);
	if (errno)
		die("pthread_create");
	process_run(0, region, (opt.mib << 20) / opt.threads);
	pthread_join(coordinator, NULL);
}

static void run_processes(void)
{
	size_t bytes = opt.mib << 20;
	size_t slice_bytes = bytes / opt.procs / opt.threads;
	uint64_t *shared = opt.map == MAP_KIND_SHARED ? region_map(bytes) : NULL;
	int status;

	for (unsigned int p = 0; p < opt.procs; p++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (pid == 0) {
			uint64_t *region = shared ? shared : region_map(bytes / opt.procs);

			if (shared && !opt.private_slices)
				region_read(shared, bytes);
			process_run(p, region, slice_bytes);
			_exit(EXIT_SUCCESS);
		}
	}
	coordinate(NULL, slice_bytes);
	for (unsigned int p = 0; p < opt.procs; p++)
		if (wait(&status) < 0 || status)
			die("a process failed");
}

/* --- options ------------------------------------------------------------- */

static unsigned int parse_number(const char *text)
{
	char *end;
	unsigned long value;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || value > UINT_MAX) {
		errno = EINVAL;
		die("\"%s\"", text);
	}
	return (unsigned int)value;
}

static void parse_options(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "procs", required_argument, NULL, 'P' },
		{ "threads", required_argument, NULL, 'T' },
		{ "mib", required_argument, NULL, 'm' },
		{ "seconds", required_argument, NULL, 's' },
		{ "move-ms", required_argument, NULL, 'v' },
		{ "chase", required_argument, NULL, 'c' },
		{ "until-local", required_argument, NULL, 'u' },
		{ "lock-mib", required_argument, NULL, 'L' },
		{ "shared", no_argument, NULL, 'S' },
		{ "private-slices", no_argument, NULL, 'o' },
		{ "pin", no_argument, NULL, 'p' },
		{ "remote-first", no_argument, NULL, 'r' },
		{ "huge", no_argument, NULL, 'h' },
		{ "partial", no_argument, NULL, 'a' },
		{ "damage", no_argument, NULL, 'd' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		switch (c) {
		case 'P': opt.procs = parse_number(optarg); break;
		case 'T': opt.threads = parse_number(optarg); break;
		case 'm': opt.mib = parse_number(optarg); break;
		case 's': opt.seconds = parse_number(optarg); break;
		case 'v': opt.move_ms = parse_number(optarg); break;
		case 'c': opt.chase_percent = parse_number(optarg); break;
		case 'u': opt.until_percent = parse_number(optarg); break;
		case 'L': opt.lock_mib = parse_number(optarg); break;
		case 'S': opt.map = MAP_KIND_SHARED; break;
		case 'o': opt.private_slices = true; break;
		case 'p': opt.pin = true; break;
		case 'r': opt.remote_first = true; break;
		case 'h': opt.huge = true; break;
		case 'a': opt.partial = true; break;
		case 'd': opt.damage = true; break;
		default: exit(EXIT_FAILURE);
		}
	}
	errno = EINVAL;
	if (optind != argc || !opt.procs || !opt.threads)
		die("usage");
	if (opt.procs * opt.threads > MAX_WORKERS)
		die("more than %u workers", MAX_WORKERS);
	if ((opt.mib << 20) % (opt.procs * opt.threads * HUGE_BYTES))
		die("a slice must be whole 2 MiB");
	if ((opt.until_percent || opt.chase_percent) && opt.procs > 1)
		die("--until-local and --chase need one process");
}

int main(int argc, char **argv)
{
	uint64_t pages = 0, bad = 0;

	parse_options(argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	cpu_count = (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
	hog_lock(opt.lock_mib << 20);
	control_init();
	if (opt.procs == 1)
		run_one_process();
	else
		run_processes();
	for (unsigned int i = 0; i < opt.procs * opt.threads; i++) {
		pages += control->results[i].pages;
		bad += control->results[i].bad;
	}
	printf("verified %llu %llu\n", (unsigned long long)pages, (unsigned long long)bad);
	return bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
