/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sample.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const struct {
        const char *name, *path;
} source_table[SOURCE_COUNT] = {
        [SOURCE_VMSTAT] = {"vmstat", "/proc/vmstat"},
        [SOURCE_STAT] = {"stat", "/proc/stat"},
        [SOURCE_PRESSURE_MEMORY] = {"pressure_memory", "/proc/pressure/memory"},
        [SOURCE_PRESSURE_CPU] = {"pressure_cpu", "/proc/pressure/cpu"},
        [SOURCE_PRESSURE_IRQ] = {"pressure_irq", "/proc/pressure/irq"},
        [SOURCE_INTERRUPTS] = {"interrupts", "/proc/interrupts"},
        [SOURCE_NODES] = {"nodes", "/sys/devices/system/node"},
};

const char *source_name(enum source_id id)
{
        return source_table[id].name;
}

const char *source_path(enum source_id id)
{
        return source_table[id].path;
}

int sources_init(struct sources *s, const char *root)
{
        *s = (struct sources){.live = !root || !*root};
        for (size_t i = 0; i < SOURCE_COUNT; i++)
                s->fd[i] = -1;
        s->root = path_join(root, "");
        return s->root ? 0 : -ENOMEM;
}

void sources_done(struct sources *s)
{
        if (!s->root) /* never initialised: its descriptors are not ours */
                return;
        for (size_t i = 0; i < SOURCE_COUNT; i++)
                closep(&s->fd[i]);
        free(s->root);
        buffer_done(&s->scratch);
}

int sample_init(struct sample *s)
{
        static const char *const rows[] = {"TLB", "CAL", "RES"};

        *s = (struct sample){0};
        return interrupts_init(&s->interrupts, rows, ELEMENTSOF(rows));
}

void sample_done(struct sample *s)
{
        interrupts_done(&s->interrupts);
        procstat_done(&s->stat);
        nodes_done(&s->nodes);
}

/* Opens the file of a source unless it is open. 0 or a negative errno. */
static int source_open(struct sources *s, enum source_id id)
{
        _cleanup_(freep) char *path = NULL;

        if (s->fd[id] >= 0)
                return 0;
        path = path_join(s->root, source_table[id].path);
        if (!path)
                return -ENOMEM;
        s->fd[id] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        return s->fd[id] < 0 ? -errno : 0;
}

static void source_close(struct sources *s, enum source_id id)
{
        closep(&s->fd[id]);
        s->fd[id] = -1;
}

static struct pressure *pressure_of(struct sample *s, enum source_id id)
{
        return id == SOURCE_PRESSURE_MEMORY ? &s->pressure_memory
               : id == SOURCE_PRESSURE_CPU  ? &s->pressure_cpu
                                            : &s->pressure_irq;
}

/* A text file that is small enough to be held whole. */
static int read_text(struct sources *s, enum source_id id, struct sample *ret)
{
        int r = source_open(s, id);

        if (r == 0)
                r = buffer_pread(&s->scratch, s->fd[id]);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                source_close(s, id);
        switch (id) {
        case SOURCE_VMSTAT:
                if (r == 0)
                        vmstat_parse(s->scratch.data, s->scratch.len, &ret->vmstat);
                else
                        ret->vmstat = (struct vmstat){.state = source_state_from_errno(r)};
                return 0;
        case SOURCE_STAT:
                if (r == 0)
                        return procstat_parse(&ret->stat, s->scratch.data, s->scratch.len);
                ret->stat.state = source_state_from_errno(r);
                ret->stat.n_cpus = 0;
                return 0;
        default:
                if (r == 0)
                        pressure_parse(s->scratch.data, s->scratch.len, pressure_of(ret, id));
                else
                        *pressure_of(ret, id) =
                                (struct pressure){.state = source_state_from_errno(r)};
                return 0;
        }
}

/* A guest whose hypervisor flushes for it (KVM, Xen, Hyper-V) never sees the interrupt. */
static void mark_paravirt(struct sample *s, const struct machine *machine)
{
        struct interrupts *i = &s->interrupts;
        const struct interrupts_row *cal = interrupts_row(i, "CAL");

        /* CPUs that have called each other since boot have flushed for each other too. Not
         * nr_tlb_remote_flush_received: a flush by the hypervisor does not count there either. */
        if (!machine->hypervisor || i->n_cpus < 2 || !cal || cal->state != SOURCE_OK ||
            cal->sum == 0)
                return;
        for (size_t r = 0; r < i->n_rows; r++)
                if (strcmp(i->row[r].label, "TLB") == 0 && i->row[r].state == SOURCE_OK &&
                    i->row[r].sum == 0)
                        i->row[r].state = SOURCE_PARAVIRT;
}

static int read_interrupts(struct sources *s, const struct machine *machine, struct sample *ret)
{
        int r = source_open(s, SOURCE_INTERRUPTS);

        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                ret->interrupts.state = source_state_from_errno(r);
                ret->interrupts.n_cpus = 0;
                for (size_t k = 0; k < ret->interrupts.n_rows; k++)
                        ret->interrupts.row[k].state = ret->interrupts.state;
                return 0;
        }
        r = interrupts_read_fd(&ret->interrupts, s->fd[SOURCE_INTERRUPTS], &s->scratch);
        if (r < 0)
                return r;
        if (ret->interrupts.n_cpus == 0)
                source_close(s, SOURCE_INTERRUPTS);
        mark_paravirt(ret, machine);
        return 0;
}

static int source_read(struct sources *s, enum source_id id, const struct machine *machine,
                       struct sample *ret)
{
        switch (id) {
        case SOURCE_INTERRUPTS:
                return read_interrupts(s, machine, ret);
        case SOURCE_NODES:
                nodes_done(&ret->nodes);
                return nodes_read(s->root, &ret->nodes);
        default:
                return read_text(s, id, ret);
        }
}

int sources_read(struct sources *s, unsigned mask, const struct machine *machine,
                 struct sample *ret)
{
        uint64_t before = now_cputime_ns();

        ret->awake_ns = now_monotonic_ns();
        ret->time_ns = now_boottime_ns(); /* the later one, so that it is never behind */
        ret->read = mask;
        /* In the order of the list: the cheap ones first, close together in time. */
        for (enum source_id id = 0; id < SOURCE_COUNT; id++) {
                uint64_t after;
                int r;

                if (!(mask & (1u << id)))
                        continue;
                r = source_read(s, id, machine, ret);
                if (r < 0)
                        return r;
                after = now_cputime_ns();
                ret->cost_ns[id] = after - before;
                before = after;
        }
        return 0;
}

enum source_state sample_state(const struct sample *s, enum source_id id)
{
        if (!(s->read & 1u << id))
                return SOURCE_UNREAD;
        switch (id) {
        case SOURCE_VMSTAT:
                return s->vmstat.state;
        case SOURCE_STAT:
                return s->stat.state;
        case SOURCE_PRESSURE_MEMORY:
                return s->pressure_memory.state;
        case SOURCE_PRESSURE_CPU:
                return s->pressure_cpu.state;
        case SOURCE_PRESSURE_IRQ:
                return s->pressure_irq.state;
        case SOURCE_INTERRUPTS:
                return s->interrupts.state;
        case SOURCE_NODES:
                return s->nodes.state;
        case SOURCE_COUNT:
                break;
        }
        return SOURCE_UNREAD;
}

size_t sample_cpus(const struct sample *s)
{
        if (s->read & 1u << SOURCE_INTERRUPTS && s->interrupts.n_cpus > 0)
                return s->interrupts.n_cpus;
        return (s->read & (1u << SOURCE_STAT)) ? s->stat.n_cpus : 0;
}

static int copy_stat(struct procstat *to, const struct procstat *from)
{
        unsigned *cpu = to->cpu;
        size_t capacity = to->capacity;

        if (from->n_cpus > capacity) {
                cpu = reallocarray(cpu, from->n_cpus, sizeof(*cpu));
                if (!cpu)
                        return -ENOMEM;
                capacity = from->n_cpus;
        }
        *to = *from;
        to->cpu = cpu;
        to->capacity = capacity;
        for (size_t i = 0; i < from->n_cpus; i++)
                cpu[i] = from->cpu[i];
        return 0;
}

static int copy_nodes(struct nodes *to, const struct nodes *from)
{
        nodes_done(to);
        to->node = calloc(from->n + 1, sizeof(*to->node));
        if (!to->node)
                return -ENOMEM;
        to->state = from->state;
        to->n = from->n;
        /* Only what differences are taken of: ids and counters. */
        for (size_t i = 0; i < from->n; i++) {
                to->node[i].id = from->node[i].id;
                to->node[i].vmstat = from->node[i].vmstat;
        }
        return 0;
}

int sample_copy(struct sample *to, const struct sample *from, unsigned mask)
{
        int r = 0;

        mask &= from->read;
        to->time_ns = from->time_ns;
        to->awake_ns = from->awake_ns;
        to->read = mask;
        to->vmstat = (mask & (1u << SOURCE_VMSTAT)) ? from->vmstat : (struct vmstat){0};
        to->pressure_memory = from->pressure_memory;
        to->pressure_cpu = from->pressure_cpu;
        to->pressure_irq = from->pressure_irq;
        if (mask & (1u << SOURCE_STAT))
                r = copy_stat(&to->stat, &from->stat);
        if (r >= 0 && mask & (1u << SOURCE_INTERRUPTS))
                r = interrupts_copy(&to->interrupts, &from->interrupts);
        if (r >= 0 && mask & (1u << SOURCE_NODES))
                r = copy_nodes(&to->nodes, &from->nodes);
        return r;
}
