/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "manager.h"

#include "entries.h"
#include "openmetrics.h"
#include "status-build.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <syslog.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#define STATE_DIR "/run/tlbd"
#define LIVE_ROWS_PER_HEADER 20
#define STRETCH_MAX 10
#define COST_SAMPLES                                                                               \
        8 /* readings that the mean cost is about, and that are waited for at first                \
           */

/* Things that are read at their own pace. The budget is shared evenly between them. */
enum pace { PACE_FAST, PACE_PER_CPU, PACE_NODES, PACE_UNITS, PACE_COUNT };

static const struct {
        unsigned sources;
        enum config_key key;
} pace_table[PACE_COUNT] = {
        [PACE_FAST] = {SOURCES_FAST, KEY_INTERVAL_SEC},
        [PACE_PER_CPU] = {1u << SOURCE_INTERRUPTS, KEY_PER_CPU_INTERVAL_SEC},
        [PACE_NODES] = {1u << SOURCE_NODES, KEY_NODE_INTERVAL_SEC},
        [PACE_UNITS] = {0, KEY_UNIT_INTERVAL_SEC}, /* the cgroup tree, see read_units() */
};

struct pace_state {
        double interval_s; /* effective: configured, or stretched to the budget */
        bool stretched;
        uint64_t last_ns; /* CLOCK_MONOTONIC of the last reading; 0: never */
        double cost_s;    /* CPU time of one reading, mean of the last */
        unsigned n_costs;
        struct sample before; /* the reading the next difference is taken from */
};

struct manager {
        struct manager_options options;
        char *state_dir, *status_path, *prom_path;
        bool have_state_dir; /* status and restore record can be written */
        int status_error;    /* of the last write of the status */
        sd_event *event;
        sd_event_source *timer, *deadline;
        struct entries entries;
        struct config config;
        unsigned generation;
        char *config_error;
        struct machine machine;
        struct sources sources;
        struct sample now;
        unsigned ever_read;
        struct pace_state pace[PACE_COUNT];
        uint64_t n_samples;
        struct metrics metrics;              /* the current value of each metric */
        double window_s[METRIC_COUNT];       /* and the time it was taken over */
        enum pace metric_pace[METRIC_COUNT]; /* and the pace that delivered it */
        uint32_t *cpu_delta;
        size_t n_cpu_delta;
        double cpu_window_s;
        bool tlb_seen;
        uint64_t tlb_total; /* interrupts of the TLB row since start */
        struct cgroup_units units;
        struct unit_metrics unit_metrics;
        uint64_t units_cost_ns;
        struct tiers tiers;
        uint64_t tiers_cost_ns;
        struct tasks tasks;
        sd_event_source *tasks_source;
        int tasks_fd; /* that tasks_source watches */
        bool source_lost[SOURCE_COUNT];
        struct judge judge;
        struct knobs knobs;
        struct sample summary_from;
        uint64_t started_ns, tick_cpu_ns;
        double cpu_percent;
        unsigned live_rows;
        bool stopping;
};

/* ---- entries ----------------------------------------------------------------------------------
 */

/* The unit that has most of what a condition is about, or NULL. */
static const struct unit_metric *leading_unit(const struct manager *m, enum condition_id id)
{
        bool balancing =
                id == CONDITION_BALANCING_FLUSH_STORM || id == CONDITION_BALANCING_NOT_CONVERGING;
        const struct unit_metric *best = NULL;
        double best_value = 0;

        for (size_t i = 0; i < m->unit_metrics.n; i++) {
                const struct unit_metric *u = &m->unit_metrics.unit[i];
                const struct metric *v = balancing ? &u->migrated_per_s : &u->reclaimed_per_s;

                if (u->path[0] && metric_has_value(v) && v->value > best_value) {
                        best = u;
                        best_value = v->value;
                }
        }
        return best;
}

static void report_judgement(enum condition_id id, const struct judgement *j, void *userdata)
{
        struct manager *m = userdata;

        entries_condition(&m->entries, id, j,
                          m->window_s[j->metric] * m->config.value[KEY_WINDOW_COUNT].number,
                          m->metrics.metric[j->metric].all_causes,
                          j->raised ? leading_unit(m, id) : NULL);
}

static void report_knob(const struct knob_event *event, void *userdata)
{
        struct manager *m = userdata;

        entries_knob(&m->entries, event);
}

/* One entry when a source is first found missing or goes away, one when it is back. */
static void report_sources(struct manager *m)
{
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                enum source_state s = sample_state(&m->now, id);
                bool lost = s != SOURCE_OK;
                /* Kernels before 6.1 have no irq pressure; that is no loss. */
                bool optional = id == SOURCE_PRESSURE_IRQ || id == SOURCE_PRESSURE_CPU;

                if (s == SOURCE_UNREAD || lost == m->source_lost[id])
                        continue;
                m->source_lost[id] = lost;
                if (!optional || m->n_samples > 0)
                        entries_source(&m->entries, id, s);
        }
}

/* At the end of a live run the report is about all of it. */
static void show_whole_run(struct manager *m, struct metrics *s)
{
        for (enum metric_id id = 0; id < METRIC_COUNT; id++) {
                m->metrics.metric[id] = s->metric[id];
                m->window_s[id] = s->interval_s;
        }
        free(m->metrics.node);
        m->metrics.node = s->node;
        m->metrics.n_nodes = s->n_nodes;
        s->node = NULL;
}

/* m->now has been read whole. Begins the next summary. */
static int report_summary(struct manager *m)
{
        double interval_s =
                (double)(m->now.awake_ns - m->summary_from.awake_ns) / (double)NSEC_PER_SEC;
        _cleanup_(metrics_done) struct metrics s = {0};
        int r;

        if (m->summary_from.read && interval_s > 0) {
                r = metrics_derive(&m->summary_from, &m->now, &m->machine, interval_s, &s);
                if (r < 0)
                        return r;
                if (m->options.live && m->stopping)
                        show_whole_run(m, &s);
                else
                        entries_summary(&m->entries, &s);
        }
        return sample_copy(&m->summary_from, &m->now, SOURCES_ALL);
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static double budget(const struct manager *m)
{
        return m->config.value[KEY_CPU_BUDGET_PERCENT].number / 100;
}

static void set_intervals(struct manager *m)
{
        for (enum pace p = 0; p < PACE_COUNT; p++) {
                double configured = m->config.value[pace_table[p].key].number;

                m->pace[p].interval_s =
                        m->options.interval_s > 0 ? m->options.interval_s : configured;
                m->pace[p].stretched = false;
        }
}

/* Longer intervals where a reading costs more than its share of the budget, and back. Never longer
 * than STRETCH_MAX times what is configured: blind is worse than dear. */
static void keep_budget(struct manager *m, enum pace p)
{
        struct pace_state *s = &m->pace[p];
        double configured = m->options.interval_s > 0 ? m->options.interval_s
                                                      : m->config.value[pace_table[p].key].number;
        double needed = s->cost_s * PACE_COUNT / budget(m);
        bool stretched = needed > configured;

        if (m->options.live)
                return; /* somebody is looking at it, for a short time */
        /* A little hysteresis, so that a cost near the mark does not flap. */
        if (s->stretched && needed > configured * 0.8)
                stretched = true;
        s->interval_s =
                stretched ? fmin(fmax(needed, configured), configured * STRETCH_MAX) : configured;
        if (stretched == s->stretched)
                return;
        s->stretched = stretched;
        entries_budget(&m->entries, pace_table[p].key, stretched, configured, s->interval_s,
                       s->cost_s, budget(m));
}

static bool pace_due(const struct manager *m, enum pace p, uint64_t now_ns)
{
        const struct pace_state *s = &m->pace[p];
        /* Half a beat early is on time: the timer has the fast pace. */
        double slack = m->pace[PACE_FAST].interval_s / 2;

        return s->last_ns == 0 || p == PACE_FAST ||
               (double)(now_ns - s->last_ns) / (double)NSEC_PER_SEC >= s->interval_s - slack;
}

/* The difference at one pace; takes over the metrics that only this pace knows. */
static int derive_pace(struct manager *m, enum pace p, struct metrics *fresh)
{
        struct pace_state *s = &m->pace[p];
        double interval_s = (double)(m->now.awake_ns - s->before.awake_ns) / (double)NSEC_PER_SEC;
        struct metrics d = {0};
        int r;

        if (!s->before.read || interval_s <= 0)
                return 0;
        r = metrics_derive(&s->before, &m->now, &m->machine, interval_s, &d);
        if (r < 0)
                return r;
        for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                if (fresh->metric[id].validity == VALIDITY_UNSUPPORTED) {
                        fresh->metric[id] = d.metric[id];
                        if (d.metric[id].validity != VALIDITY_UNSUPPORTED) {
                                m->window_s[id] = interval_s;
                                m->metric_pace[id] = p;
                        }
                }
        if (d.n_nodes > 0) {
                free(m->metrics.node);
                m->metrics.node = d.node;
                m->metrics.n_nodes = d.n_nodes;
                d.node = NULL;
        }
        metrics_done(&d);
        return 0;
}

/* Per-CPU rates for the live view, of CPUs present in both readings. */
static int keep_cpu_deltas(struct manager *m)
{
        const struct interrupts *before = &m->pace[PACE_PER_CPU].before.interrupts;
        const struct interrupts *now = &m->now.interrupts;
        const struct interrupts_row *b = interrupts_row(before, "TLB");
        const struct interrupts_row *a = interrupts_row(now, "TLB");
        uint32_t *delta;
        size_t x = 0;

        m->n_cpu_delta = 0;
        m->tlb_seen |= a->state == SOURCE_OK;
        if (!m->pace[PACE_PER_CPU].before.read || b->state != SOURCE_OK || a->state != SOURCE_OK)
                return 0;
        delta = reallocarray(m->cpu_delta, now->n_cpus, sizeof(*delta));
        if (!delta)
                return -ENOMEM;
        m->cpu_delta = delta;
        for (size_t y = 0; y < now->n_cpus; y++) {
                while (x < before->n_cpus && before->cpu[x] < now->cpu[y])
                        x++;
                delta[y] = x < before->n_cpus && before->cpu[x] == now->cpu[y]
                                   ? (uint32_t)(a->count[y] - b->count[x])
                                   : 0;
                m->tlb_total += delta[y];
        }
        m->n_cpu_delta = now->n_cpus;
        m->cpu_window_s = (double)(m->now.awake_ns - m->pace[PACE_PER_CPU].before.awake_ns) /
                          (double)NSEC_PER_SEC;
        return 0;
}

static int watch_tasks(struct manager *m);

static int on_tasks(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
        struct manager *m = userdata;

        (void)source;
        (void)fd;
        (void)events;
        tasks_dispatch(&m->tasks);
        return watch_tasks(m);
}

/* The connection comes and goes with kernel.task_delayacct. */
static int watch_tasks(struct manager *m)
{
        int fd = tasks_fd(&m->tasks);

        if (fd == m->tasks_fd)
                return 0;
        m->tasks_source = sd_event_source_unref(m->tasks_source);
        m->tasks_fd = fd;
        return fd < 0 ? 0 : sd_event_add_io(m->event, &m->tasks_source, fd, EPOLLIN, on_tasks, m);
}

static int update_tasks(struct manager *m)
{
        int r = tasks_update(&m->tasks, &m->unit_metrics, m->now.awake_ns);

        return r < 0 ? r : watch_tasks(m);
}

/* Walks the cgroup tree and takes the difference to the walk before. */
static int read_units(struct manager *m)
{
        size_t max_units = (size_t)m->config.value[KEY_MAX_UNITS].number;
        const struct sample *before = &m->pace[PACE_UNITS].before;
        double interval_s = (double)(m->now.awake_ns - before->awake_ns) / (double)NSEC_PER_SEC;
        uint64_t cpu_ns = now_cputime_ns();
        struct unit_metrics metrics = {0};
        struct cgroup_units units = {0};
        int r = 0;

        if (max_units > 0)
                r = cgroup_units_read(m->options.root, max_units, &units);
        else
                units.state = SOURCE_OFF;
        if (r >= 0 && m->units.state == SOURCE_OK && units.state == SOURCE_OK && before->read &&
            interval_s > 0)
                r = unit_metrics_derive(&m->units, &units, &before->vmstat, &m->now.vmstat,
                                        interval_s, &metrics);
        if (r < 0) {
                cgroup_units_done(&units);
                return r;
        }
        unit_metrics_done(&m->unit_metrics);
        cgroup_units_done(&m->units);
        m->units = units;
        m->unit_metrics = metrics;
        r = update_tasks(m);
        m->units_cost_ns = now_cputime_ns() - cpu_ns;
        return r;
}

static int read_tiers(struct manager *m)
{
        uint64_t cpu_ns = now_cputime_ns();
        struct tiers tiers;
        int r = tiers_read(m->options.root, &tiers);

        if (r < 0)
                return r;
        tiers_done(&m->tiers);
        m->tiers = tiers;
        m->tiers_cost_ns = now_cputime_ns() - cpu_ns;
        return 0;
}

/* What is read at a slower pace keeps its value until its next reading. */
static void merge_metrics(struct manager *m, const struct metrics *fresh, unsigned paces)
{
        for (enum metric_id id = 0; id < METRIC_COUNT; id++)
                if (fresh->metric[id].validity != VALIDITY_UNSUPPORTED ||
                    paces & 1u << m->metric_pace[id])
                        m->metrics.metric[id] = fresh->metric[id];
}

static int derive(struct manager *m, unsigned paces, struct metrics *fresh)
{
        int r = 0;

        *fresh = (struct metrics){0};
        for (enum pace p = 0; p < PACE_COUNT && r >= 0; p++)
                if (paces & 1u << p)
                        r = derive_pace(m, p, fresh);
        if (r >= 0 && paces & 1u << PACE_PER_CPU)
                r = keep_cpu_deltas(m);
        if (r >= 0 && paces & 1u << PACE_UNITS)
                r = read_units(m);
        if (r >= 0 && paces & 1u << PACE_NODES)
                r = read_tiers(m);
        for (enum pace p = 0; p < PACE_COUNT && r >= 0; p++)
                if (paces & 1u << p) {
                        r = sample_copy(&m->pace[p].before, &m->now, SOURCES_ALL);
                        m->pace[p].last_ns = m->now.awake_ns;
                }
        return r;
}

/* The mean of the last readings: a single one says little, least of all on a guest whose time is
 * stolen in the middle of it. */
static void add_cost(struct pace_state *s, double cost_s)
{
        s->n_costs++;
        s->cost_s += (cost_s - s->cost_s) / (s->n_costs < COST_SAMPLES ? s->n_costs : COST_SAMPLES);
}

static void count_costs(struct manager *m, unsigned paces)
{
        uint64_t rest = now_cputime_ns() - m->tick_cpu_ns;

        for (enum pace p = PACE_FAST + 1; p < PACE_COUNT; p++) {
                uint64_t cost = p == PACE_UNITS   ? m->units_cost_ns
                                : p == PACE_NODES ? m->tiers_cost_ns
                                                  : 0;

                if (!(paces & 1u << p))
                        continue;
                for (enum source_id id = 0; id < SOURCE_COUNT; id++)
                        if (pace_table[p].sources & 1u << id)
                                cost += m->now.cost_ns[id];
                rest -= cost < rest ? cost : rest;
                add_cost(&m->pace[p], (double)cost / (double)NSEC_PER_SEC);
        }
        /* What else a tick does, reporting included, belongs to the fast pace. */
        add_cost(&m->pace[PACE_FAST], (double)rest / (double)NSEC_PER_SEC);
        for (enum pace p = 0; p < PACE_COUNT; p++)
                if (paces & 1u << p && m->pace[p].n_costs >= COST_SAMPLES)
                        keep_budget(m, p);
}

static uint64_t resident_bytes(void)
{
        _cleanup_(buffer_done) struct buffer b = {0};
        unsigned long pages = 0;

        /* proc(5): size, then resident, in pages. */
        if (buffer_read_path(&b, "/proc/self/statm") == 0) {
                const char *resident = strchr(b.data, ' ');

                pages = resident ? strtoul(resident, NULL, 10) : 0;
        }
        return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* What status.json and tlbd.prom are built from; calls build() with it, while the borrowed parts
 * live. */
static void with_status(struct manager *m, void (*build)(const struct status_input *in, void *ret),
                        void *ret)
{
        double source_interval_s[SOURCE_COUNT];
        struct sample latest = m->now; /* borrowed, with the memory of what was read before */
        double up_s = (double)(now_monotonic_ns() - m->started_ns) / (double)NSEC_PER_SEC;
        double cpu_s = (double)now_cputime_ns() / (double)NSEC_PER_SEC;
        struct status_input in;

        latest.read = m->ever_read;
        for (enum source_id id = 0; id < SOURCE_COUNT; id++)
                for (enum pace p = 0; p < PACE_COUNT; p++)
                        if (pace_table[p].sources & 1u << id)
                                source_interval_s[id] = m->pace[p].interval_s;
        m->cpu_percent = up_s > 0 ? cpu_s / up_s * 100 : 0;
        in = (struct status_input){
                .observe = m->options.observe,
                .interval_s = m->pace[PACE_FAST].interval_s,
                .n_samples = m->n_samples,
                .machine = &m->machine,
                .config = &m->config,
                .generation = m->generation,
                .config_error = m->config_error,
                .sample = &latest,
                .metrics = &m->metrics,
                .window_s = m->window_s,
                .cpu_delta = m->cpu_delta,
                .cpu_id = m->now.interrupts.cpu,
                .n_cpu_delta = m->n_cpu_delta,
                .cpu_window_s = m->cpu_window_s,
                .tlb_seen = m->tlb_seen,
                .tlb_total = m->tlb_total,
                .units = &m->units,
                .tiers = &m->tiers,
                .unit_metrics = m->unit_metrics.n > 0 ? &m->unit_metrics : NULL,
                .tasks = &m->tasks,
                .judge = &m->judge,
                .knobs = &m->knobs,
                .source_interval_s = source_interval_s,
                .cpu_s = cpu_s,
                .cpu_percent = m->cpu_percent,
                .rss_bytes = resident_bytes(),
        };
        build(&in, ret);
}

static void build_json(const struct status_input *in, void *ret)
{
        *(struct json_object **)ret = status_build(in);
}

static struct json_object *build_status(struct manager *m)
{
        struct json_object *status = NULL;

        with_status(m, build_json, &status);
        return status;
}

struct text {
        char *data;
        size_t len;
};

static void build_openmetrics(const struct status_input *in, void *ret)
{
        struct text *text = ret;

        text->data = openmetrics_build(in, &text->len);
}

/* A status that cannot be written (a full /run) is said once; the old one shows its age. */
static void note_status_error(struct manager *m, int r)
{
        if (r < 0 && r != m->status_error)
                fprintf(stderr, "tlbd: cannot write %s: %s, ignoring\n", m->status_path,
                        strerror(-r));
        m->status_error = r;
}

static int write_json(struct manager *m)
{
        struct json_object *status = build_status(m);
        const char *text;
        size_t len;
        int r;

        if (!status)
                return -ENOMEM;
        text = json_object_to_json_string_length(
                status, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);
        r = text ? file_write_atomic(m->status_path, text, len, 0644, false) : -ENOMEM;
        json_object_put(status);
        return r;
}

static int write_openmetrics(struct manager *m)
{
        struct text text = {0};
        int r;

        with_status(m, build_openmetrics, &text);
        r = text.data ? file_write_atomic(m->prom_path, text.data, text.len, 0644, false) : -ENOMEM;
        free(text.data);
        return r;
}

static void write_status(struct manager *m)
{
        int r;

        if (!m->have_state_dir)
                return;
        r = write_json(m);
        if (r >= 0)
                r = write_openmetrics(m);
        note_status_error(m, r);
}

static void live_cell(const struct manager *m, enum metric_id id)
{
        const struct metric *v = &m->metrics.metric[id];

        if (metric_has_value(v))
                printf(" %11.4g", v->value);
        else
                printf(" %11s",
                       v->validity == VALIDITY_UNSUPPORTED ? "-" : validity_name(v->validity));
}

static void live_row(struct manager *m)
{
        static const enum metric_id column[] = {METRIC_TLB,
                                                METRIC_TLB_MAX_CPU,
                                                METRIC_PAGES_MIGRATED,
                                                METRIC_TLB_PER_MIGRATED,
                                                METRIC_PAGES_RECLAIMED,
                                                METRIC_TLB_PER_RECLAIMED};
        double up_s = (double)(m->now.awake_ns - m->started_ns) / (double)NSEC_PER_SEC;

        if (m->live_rows++ % LIVE_ROWS_PER_HEADER == 0)
                printf("%6s %11s %11s %11s %11s %11s %11s\n%6s %11s %11s %11s %11s %11s %11s\n",
                       "time", "TLB irq/s", "busiest", "migrated", "TLB irq per", "reclaimed",
                       "TLB irq per", "s", "all CPUs", "CPU", "pages/s", "mig. page", "pages/s",
                       "recl. page");
        printf("%6.1f", up_s);
        for (size_t i = 0; i < ELEMENTSOF(column); i++)
                live_cell(m, column[i]);
        printf("\n");
        (void)fflush(stdout);
}

static bool summary_due(const struct manager *m, uint64_t now_ns)
{
        double sec = m->config.value[KEY_SUMMARY_SEC].number;

        return sec > 0 && m->summary_from.read &&
               (double)(now_ns - m->summary_from.awake_ns) / (double)NSEC_PER_SEC >= sec;
}

/* One reading and everything that follows from it. all: read every source whatever its pace. */
static int tick(struct manager *m, bool all)
{
        uint64_t now_ns = now_monotonic_ns();
        bool summary = all || summary_due(m, now_ns);
        unsigned paces = 0, mask = 0;
        struct metrics fresh;
        int r;

        m->tick_cpu_ns = now_cputime_ns();
        for (enum pace p = 0; p < PACE_COUNT; p++)
                if (summary || pace_due(m, p, now_ns)) {
                        paces |= 1u << p;
                        mask |= pace_table[p].sources;
                }
        r = sources_read(&m->sources, mask, &m->machine, &m->now);
        if (r < 0)
                return r;
        m->ever_read |= mask;
        report_sources(m);
        r = derive(m, paces, &fresh);
        if (r < 0)
                return r;
        m->n_samples++;
        merge_metrics(m, &fresh, paces);
        if (m->n_samples > 1)
                judge_update(&m->judge, &m->config, &fresh, sample_cpus(&m->now), now_ns,
                             report_judgement, m);
        if (summary)
                r = report_summary(m);
        if (r >= 0 && !m->options.observe)
                knobs_check_drift(&m->knobs, report_knob, m);
        if (r >= 0)
                write_status(m);
        if (m->options.live && m->n_samples > 1 && !m->stopping)
                live_row(m);
        count_costs(m, paces);
        return r;
}

/* ---- events -----------------------------------------------------------------------------------
 */

static uint64_t seconds_to_usec(double s)
{
        return (uint64_t)(s * 1e6);
}

static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
        struct manager *m = userdata;
        uint64_t now = 0, next;
        int r = tick(m, false);

        if (r < 0)
                fprintf(stderr, "tlbd: a reading failed: %s, ignoring\n", strerror(-r));
        /* On the beat; after a pause (a stopped guest, say) from now on, without catching up. */
        next = usec + seconds_to_usec(m->pace[PACE_FAST].interval_s);
        r = sd_event_now(m->event, CLOCK_MONOTONIC, &now);
        if (r >= 0 && next <= now)
                next = now + seconds_to_usec(m->pace[PACE_FAST].interval_s);
        r = sd_event_source_set_time(source, next);
        return r < 0 ? r : sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_stop(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata)
{
        struct manager *m = userdata;

        (void)si;
        m->stopping = true;
        return sd_event_exit(sd_event_source_get_event(source), 0);
}

static int on_deadline(sd_event_source *source, uint64_t usec, void *userdata)
{
        (void)usec;
        return on_stop(source, NULL, userdata);
}

/* Where nothing can be applied, measuring goes on all the same. */
static void apply_knobs(struct manager *m)
{
        int r;

        knobs_probe(&m->knobs);
        if (m->options.observe)
                return;
        r = knobs_apply(&m->knobs, &m->config, true, report_knob, m);
        if (r >= 0)
                return;
        free(m->config_error);
        m->config_error =
                strf("nothing was applied, as the restore record cannot be kept in %s: %s",
                     m->state_dir, strerror(-r));
        entries_config_refused(&m->entries, m->config_error ? m->config_error : strerror(-r), NULL);
}

static void tell_systemd(struct manager *m)
{
        sd_notifyf(0, "READY=1\nSTATUS=%s%s",
                   m->config_error ? "Configuration refused: " : "Watching",
                   m->config_error ? m->config_error : "");
}

static int on_reload(sd_event_source *source, const struct signalfd_siginfo *si, void *userdata)
{
        struct manager *m = userdata;
        struct config config;
        _cleanup_(config_error_done) struct config_error error = {0};
        int r;

        (void)source;
        (void)si;
        sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%llu",
                   (unsigned long long)(now_monotonic_ns() / 1000));
        free(m->config_error);
        m->config_error = NULL;
        m->generation++;
        r = config_load(m->options.root, NULL, NULL, &config, &error);
        if (r < 0) {
                m->config_error = config_error_format(&error);
                entries_config_refused(&m->entries,
                                       m->config_error ? m->config_error : strerror(-r), error.key);
        } else {
                config_done(&m->config);
                m->config = config;
                set_intervals(m);
                apply_knobs(m);
                r = sd_event_source_set_time_relative(
                        m->timer, seconds_to_usec(m->pace[PACE_FAST].interval_s));
                if (r < 0)
                        return r;
        }
        write_status(m);
        tell_systemd(m);
        return 0;
}

static int block_signals(void)
{
        sigset_t set;

        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGHUP);
        return sigprocmask(SIG_BLOCK, &set, NULL) < 0 ? -errno : 0;
}

static int add_sources(struct manager *m)
{
        uint64_t interval = seconds_to_usec(m->pace[PACE_FAST].interval_s);
        int r = sd_event_add_time_relative(m->event, &m->timer, CLOCK_MONOTONIC, interval,
                                           interval / 100, on_timer, m);

        if (r >= 0 && m->options.duration_s > 0)
                r = sd_event_add_time_relative(m->event, &m->deadline, CLOCK_MONOTONIC,
                                               seconds_to_usec(m->options.duration_s), 1,
                                               on_deadline, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGTERM, on_stop, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGINT, on_stop, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGHUP, on_reload, m);
        return r;
}

/* ---- start and stop ---------------------------------------------------------------------------
 */

static void manager_done(struct manager *m)
{
        sd_event_source_unref(m->tasks_source);
        sd_event_source_unref(m->timer);
        sd_event_source_unref(m->deadline);
        sd_event_unref(m->event);
        for (enum pace p = 0; p < PACE_COUNT; p++)
                sample_done(&m->pace[p].before);
        sample_done(&m->now);
        sample_done(&m->summary_from);
        sources_done(&m->sources);
        metrics_done(&m->metrics);
        unit_metrics_done(&m->unit_metrics);
        cgroup_units_done(&m->units);
        tiers_done(&m->tiers);
        tasks_done(&m->tasks);
        knobs_done(&m->knobs);
        config_done(&m->config);
        free(m->cpu_delta);
        free(m->config_error);
        free(m->state_dir);
        free(m->status_path);
        free(m->prom_path);
}

static int init_samples(struct manager *m)
{
        int r = sample_init(&m->now);

        for (enum pace p = 0; p < PACE_COUNT && r >= 0; p++)
                r = sample_init(&m->pace[p].before);
        return r < 0 ? r : sample_init(&m->summary_from);
}

static int init_paths(struct manager *m)
{
        m->state_dir = path_join(m->options.root, STATE_DIR);
        m->status_path = path_join(m->options.root, STATE_DIR "/status.json");
        m->prom_path = path_join(m->options.root, STATE_DIR "/tlbd.prom");
        return m->state_dir && m->status_path && m->prom_path ? 0 : -ENOMEM;
}

/* In observe mode a missing or read-only state directory is no obstacle. */
static int init_state_dir(struct manager *m)
{
        if (mkdir(m->state_dir, 0755) < 0 && errno != EEXIST && !m->options.observe)
                return -errno;
        if (access(m->state_dir, W_OK) == 0) {
                m->have_state_dir = true;
                return 0;
        }
        return m->options.observe ? 0 : -errno;
}

static int init_config(struct manager *m)
{
        _cleanup_(config_error_done) struct config_error error = {0};
        _cleanup_(freep) char *text = NULL;
        int r = config_load(m->options.root, NULL, NULL, &m->config, &error);

        if (r < 0) {
                text = config_error_format(&error);
                fprintf(stderr, "tlbd: configuration refused: %s\n", text ? text : strerror(-r));
        }
        return r;
}

static int init_knobs(struct manager *m)
{
        int r = knobs_init(&m->knobs, m->options.root, m->state_dir);

        if (r < 0)
                return r;
        /* What cannot be adopted is said here; knobs_apply() then writes nothing by itself. */
        if (!m->options.observe && knobs_adopt_record(&m->knobs) == -EBADMSG)
                entries_config_refused(&m->entries,
                                       "the restore record of an earlier tlbd is damaged and was "
                                       "put aside; settings it had changed stay as they are",
                                       NULL);
        apply_knobs(m);
        return 0;
}

static int manager_init(struct manager *m)
{
        int r = init_paths(m);

        if (r >= 0)
                r = block_signals();
        if (r >= 0)
                r = sd_event_new(&m->event);
        if (r >= 0)
                r = entries_init(&m->entries, m->options.log);
        if (r >= 0)
                r = init_config(m);
        if (r >= 0)
                r = init_state_dir(m);
        if (r >= 0)
                r = machine_read(m->options.root, &m->machine);
        if (r >= 0)
                r = sources_init(&m->sources, m->options.root);
        if (r >= 0)
                r = tasks_init(&m->tasks, m->options.root);
        if (r >= 0)
                r = init_samples(m);
        if (r < 0)
                return r;
        set_intervals(m);
        m->started_ns = now_monotonic_ns();
        m->generation = 1;
        if (!m->machine.policy && !m->options.live)
                entries_without_policy(&m->entries, m->machine.release);
        r = init_knobs(m);
        if (r >= 0)
                r = tick(m, true);
        if (r >= 0)
                r = add_sources(m);
        return r;
}

static unsigned terminal_width(void)
{
        struct winsize ws;

        return ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_col >= 80 ? ws.ws_col : 80;
}

static int manager_stop(struct manager *m)
{
        int r;

        sd_notify(0, "STOPPING=1");
        m->stopping = true;
        r = tick(m, true);
        if (m->options.live) {
                struct json_object *status = build_status(m);

                if (status) {
                        printf("\n");
                        report_print(stdout, status, terminal_width());
                        json_object_put(status);
                }
                if (fflush(stdout) != 0)
                        r = -errno;
        }
        if (!m->options.observe && m->config.value[KEY_RESTORE_ON_STOP].number > 0) {
                int k = knobs_restore(&m->knobs, report_knob, m);

                if (k < 0) {
                        fprintf(stderr, "tlbd: not everything was put back: %s\n", strerror(-k));
                        r = k;
                }
        }
        if (m->have_state_dir && unlink(m->status_path) < 0 && errno != ENOENT && r >= 0)
                r = -errno;
        if (m->have_state_dir && unlink(m->prom_path) < 0 && errno != ENOENT && r >= 0)
                r = -errno;
        return r;
}

int manager_run(const struct manager_options *options)
{
        struct manager m = {.options = *options, .tasks_fd = -1};
        int r = manager_init(&m);

        if (r < 0) {
                fprintf(stderr, "tlbd: cannot start: %s\n", strerror(-r));
                goto out;
        }
        r = sd_event_set_watchdog(m.event, true);
        if (r >= 0) {
                tell_systemd(&m);
                r = sd_event_loop(m.event);
        }
        if (r < 0)
                fprintf(stderr, "tlbd: event loop: %s\n", strerror(-r));
        else
                r = manager_stop(&m);
out:
        manager_done(&m);
        return r;
}

int manager_restore(const char *root, bool force, enum journal_target log)
{
        struct manager m = {.options = {.root = root, .log = log}};
        int r = init_paths(&m);

        if (r >= 0)
                r = entries_init(&m.entries, log);
        /* A configuration that cannot be read must not keep the settings from being put back. */
        if (r >= 0 && !force && init_config(&m) >= 0 &&
            m.config.value[KEY_RESTORE_ON_STOP].number <= 0)
                goto out;
        if (r >= 0)
                r = knobs_init(&m.knobs, root, m.state_dir);
        if (r >= 0) {
                knobs_probe(&m.knobs);
                r = knobs_restore(&m.knobs, report_knob, &m);
        }
        if (r < 0)
                fprintf(stderr, "tlbd: not everything was put back: %s\n", strerror(-r));
out:
        manager_done(&m);
        return r;
}

/* The configuration part of status.json: generation, and why it was refused (NULL: it was not). */
static int read_config_state(const char *path, int64_t *ret_generation, char **ret_error)
{
        struct json_object *status = json_object_from_file(path);
        struct json_object *config, *v;
        int r = -ENOENT;

        if (json_object_object_get_ex(status, "config", &config) &&
            json_object_object_get_ex(config, "generation", &v)) {
                *ret_generation = json_object_get_int64(v);
                *ret_error = NULL;
                r = 0;
                if (json_object_object_get_ex(config, "error", &v) && v)
                        *ret_error = strdup(json_object_get_string(v));
        }
        json_object_put(status);
        return r;
}

int manager_reload(const char *root, int pid)
{
        _cleanup_(freep) char *path = path_join(root, STATE_DIR "/status.json");
        _cleanup_(freep) char *error = NULL;
        int64_t before = 0, after = 0;
        int r;

        if (!path)
                return -ENOMEM;
        r = read_config_state(path, &before, &error);
        if (r < 0) {
                fprintf(stderr, "tlbd: cannot read %s: is tlbd running?\n", path);
                return r;
        }
        if (kill(pid, SIGHUP) < 0) {
                r = -errno;
                fprintf(stderr, "tlbd: cannot signal process %d: %s\n", pid, strerror(-r));
                return r;
        }
        for (int i = 0; i < 200; i++) {
                freep(&error);
                error = NULL;
                r = read_config_state(path, &after, &error);
                if (r == 0 && after != before) {
                        if (error)
                                fprintf(stderr, "tlbd: the running configuration is kept: %s\n",
                                        error);
                        return error ? -EINVAL : 0;
                }
                (void)usleep(50 * 1000);
        }
        fprintf(stderr, "tlbd: process %d did not answer the reload within 10 s\n", pid);
        return -ETIMEDOUT;
}
