/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "node.h"

#include <dirent.h>
#include <errno.h>
#include <numa.h>
#include <string.h>

#define NODE_DIR "/sys/devices/system/node"

static void node_done(struct node *n)
{
        idlist_done(&n->cpus);
        free(n->distance);
}

void nodes_done(struct nodes *n)
{
        for (size_t i = 0; i < n->n; i++)
                node_done(&n->node[i]);
        free(n->node);
        *n = (struct nodes){0};
}

static int is_node_directory(const struct dirent *d)
{
        uint64_t id;

        return strncmp(d->d_name, "node", 4) == 0 &&
               parse_u64(d->d_name + 4, strlen(d->d_name + 4), &id) == 0 && id <= IDLIST_ID_MAX;
}

static int compare_nodes(const void *a, const void *b)
{
        const struct node *x = a, *y = b;

        return (x->id > y->id) - (x->id < y->id);
}

/* Fills in the ids of the node directories. */
static int list_nodes(const char *dir, struct nodes *ret)
{
        struct dirent **entry = NULL;
        int n = scandir(dir, &entry, is_node_directory, NULL);

        if (n < 0) {
                if (errno == ENOMEM)
                        return -ENOMEM;
                ret->state = source_state_from_errno(-errno);
                return 0;
        }
        ret->state = n > 0 ? SOURCE_OK : SOURCE_ABSENT;
        ret->node = calloc((size_t)n + 1, sizeof(*ret->node));
        for (int i = 0; i < n; i++) {
                if (ret->node)
                        ret->node[ret->n++].id = (unsigned)strtoul(entry[i]->d_name + 4, NULL, 10);
                free(entry[i]);
        }
        free(entry);
        if (!ret->node)
                return -ENOMEM;
        qsort(ret->node, ret->n, sizeof(*ret->node), compare_nodes);
        return 0;
}

/* Reads dir/nodeID/name. -EBADMSG: without the newline at its end (NUL bytes may follow it) the
 * text was cut short, and so may be its last number. */
static int read_node_file(const char *dir, unsigned id, const char *name, struct buffer *b)
{
        _cleanup_(freep) char *path = strf("%s/node%u/%s", dir, id, name);
        int r = path ? buffer_read_path(b, path) : -ENOMEM;

        if (r < 0)
                return r;
        while (b->len > 0 && b->data[b->len - 1] == '\0')
                b->len--;
        return b->len > 0 && b->data[b->len - 1] == '\n' ? 0 : -EBADMSG;
}

static int read_cpus(const char *dir, struct node *n, struct buffer *b)
{
        int r = read_node_file(dir, n->id, "cpulist", b);

        if (r == 0)
                r = idlist_parse_ranges(b->data, b->len, &n->cpus);
        if (r < 0 && r != -ENOMEM) {
                r = read_node_file(dir, n->id, "cpumap", b);
                if (r == 0)
                        r = idlist_parse_mask(b->data, b->len, &n->cpus);
        }
        n->cpus_known = r == 0;
        if (r < 0)
                n->cpus.n = 0;
        return r == -ENOMEM ? r : 0;
}

/* One number for each node, in the order of their ids. Any other count: unknown. */
static int parse_distance(struct node *n, size_t n_nodes, const char *text)
{
        unsigned *distance = calloc(n_nodes, sizeof(*distance));
        size_t k = 0;

        if (!distance)
                return -ENOMEM;
        for (;;) {
                size_t len;
                uint64_t v;

                text += strspn(text, " \t\n");
                len = strcspn(text, " \t\n");
                if (len == 0)
                        break;
                if (k == n_nodes || parse_u64(text, len, &v) < 0 || v > UINT32_MAX)
                        goto unknown;
                distance[k++] = (unsigned)v;
                text += len;
        }
        if (k != n_nodes)
                goto unknown;
        n->distance = distance;
        return 0;
unknown:
        free(distance);
        return 0;
}

/* "Node 0 MemTotal:  32843996 kB": the number after the word, in bytes. */
static bool meminfo_field(const char *text, const char *field, uint64_t *ret)
{
        const char *p = strstr(text, field);
        uint64_t kib;
        size_t len;

        if (!p)
                return false;
        p += strlen(field);
        p += strspn(p, " \t");
        len = strspn(p, "0123456789");
        if (p[len] != ' ' || parse_u64(p, len, &kib) < 0 || kib > UINT64_MAX / 1024)
                return false;
        *ret = kib * 1024;
        return true;
}

static void parse_meminfo(struct node *n, const char *text)
{
        n->memory_known = meminfo_field(text, " MemTotal:", &n->total_bytes) &&
                          meminfo_field(text, " MemFree:", &n->free_bytes);
        if (n->memory_known && n->free_bytes > n->total_bytes) {
                n->memory_odd = true;
                n->free_bytes = n->total_bytes;
        }
}

static int read_meminfo(const char *dir, struct node *n, struct buffer *b)
{
        int r = read_node_file(dir, n->id, "meminfo", b);

        if (r == 0 || r == -EBADMSG) /* a number that was cut lacks its unit */
                parse_meminfo(n, b->data);
        return r == -ENOMEM ? r : 0;
}

/* The counters of vmstat, but numa_* as in numastat, which every kernel has. */
static int read_counters(const char *dir, struct node *n, struct buffer *b)
{
        static const enum vmstat_id numa[] = {VM_NUMA_HIT, VM_NUMA_MISS, VM_NUMA_FOREIGN};
        struct vmstat numastat;
        int r = read_node_file(dir, n->id, "vmstat", b);

        if (r == 0 || r == -EBADMSG)
                vmstat_parse(b->data, b->len, &n->vmstat);
        else
                n->vmstat.state = source_state_from_errno(r);
        if (r != -ENOMEM)
                r = read_node_file(dir, n->id, "numastat", b);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        vmstat_parse(b->data, b->len, &numastat);
        if (n->vmstat.state == SOURCE_ABSENT)
                n->vmstat = numastat;
        for (size_t i = 0; i < ELEMENTSOF(numa); i++)
                if (vmstat_has(&numastat, numa[i])) {
                        n->vmstat.value[numa[i]] = numastat.value[numa[i]];
                        n->vmstat.origin[numa[i]] = numastat.origin[numa[i]];
                }
        return 0;
}

/* libnuma reads the nodes once, at load: it serves while it knows exactly the same ones. */
static bool libnuma_matches(const struct nodes *s)
{
        if (numa_available() < 0 || numa_bitmask_weight(numa_nodes_ptr) != s->n)
                return false;
        for (size_t i = 0; i < s->n; i++)
                if (!numa_bitmask_isbitset(numa_nodes_ptr, s->node[i].id))
                        return false;
        return true;
}

static int node_from_libnuma(const struct nodes *s, struct node *n)
{
        struct bitmask *mask = numa_allocate_cpumask();
        int r = 0;

        if (!mask)
                return -ENOMEM;
        n->cpus_known = numa_node_to_cpus((int)n->id, mask) == 0;
        for (unsigned cpu = 0; n->cpus_known && r == 0 && cpu < mask->size; cpu++)
                if (numa_bitmask_isbitset(mask, cpu))
                        r = idlist_append(&n->cpus, cpu);
        numa_free_cpumask(mask);
        if (r < 0)
                return r;
        n->distance = calloc(s->n, sizeof(*n->distance));
        if (!n->distance)
                return -ENOMEM;
        for (size_t k = 0; k < s->n; k++) {
                int d = numa_distance((int)n->id, (int)s->node[k].id);

                if (d <= 0) { /* unknown to libnuma */
                        free(n->distance);
                        n->distance = NULL;
                        break;
                }
                n->distance[k] = (unsigned)d;
        }
        return 0;
}

static int node_topology_from_text(const char *dir, const struct nodes *s, struct node *n,
                                   struct buffer *b)
{
        int r = read_cpus(dir, n, b);

        if (r < 0)
                return r;
        r = read_node_file(dir, n->id, "distance", b);
        if (r == 0)
                r = parse_distance(n, s->n, b->data);
        return r == -ENOMEM ? r : 0;
}

int nodes_read(const char *root, struct nodes *ret)
{
        _cleanup_(freep) char *dir = path_join(root, NODE_DIR);
        _cleanup_(buffer_done) struct buffer b = {0};
        struct nodes s = {0};
        bool live = !root || !*root;
        int r;

        if (!dir)
                return -ENOMEM;
        r = list_nodes(dir, &s);
        if (live && r >= 0 && (live = libnuma_matches(&s)))
                numa_node_to_cpu_update(); /* CPUs may have come or gone */
        for (size_t i = 0; i < s.n && r >= 0; i++) {
                struct node *n = &s.node[i];

                r = live ? node_from_libnuma(&s, n) : node_topology_from_text(dir, &s, n, &b);
                if (r >= 0)
                        r = read_counters(dir, n, &b);
                if (r >= 0)
                        r = read_meminfo(dir, n, &b);
        }
        if (r < 0) {
                nodes_done(&s);
                return r;
        }
        *ret = s;
        return 0;
}

const struct node *nodes_find(const struct nodes *n, unsigned id)
{
        for (size_t i = 0; i < n->n; i++)
                if (n->node[i].id == id)
                        return &n->node[i];
        return NULL;
}
