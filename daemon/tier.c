/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tier.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#define TIERS_ROOT "/sys/devices/virtual/memory_tiering"
/* Far more than abstract distances of real memory make (ids are the distance over 128). */
#define TIER_ID_MAX 65535

void tiers_done(struct tiers *t)
{
        for (size_t i = 0; i < t->n; i++)
                idlist_done(&t->tier[i].nodes);
        free(t->tier);
        free(t->node);
        *t = (struct tiers){0};
}

/* ---- tiers ------------------------------------------------------------------------------------
 */

static int compare_tier(const void *a, const void *b)
{
        const struct memory_tier *x = a, *y = b;

        return (x->id > y->id) - (x->id < y->id);
}

/* memory_tierN. -EINVAL: another name. */
static int tier_id(const char *name, unsigned *ret)
{
        static const char prefix[] = "memory_tier";
        const char *digits = name + strlen(prefix);
        uint64_t id;

        if (strncmp(name, prefix, strlen(prefix)) != 0 ||
            parse_u64(digits, strlen(digits), &id) < 0 || id > TIER_ID_MAX)
                return -EINVAL;
        *ret = (unsigned)id;
        return 0;
}

/* A tier that went away meanwhile, or has no memory, is left out. */
static int add_tier(struct tiers *t, const char *top, const char *name, struct buffer *b)
{
        _cleanup_(freep) char *path = strf("%s/%s/nodelist", top, name);
        struct memory_tier tier = {0}, *grown;
        int r;

        if (!path)
                return -ENOMEM;
        if (tier_id(name, &tier.id) < 0 || buffer_read_path(b, path) < 0)
                return 0;
        r = idlist_parse_ranges(b->data, b->len, &tier.nodes);
        if (r < 0 || tier.nodes.n == 0) {
                idlist_done(&tier.nodes);
                return r == -ENOMEM ? r : 0;
        }
        grown = reallocarray(t->tier, t->n + 1, sizeof(*grown));
        if (!grown) {
                idlist_done(&tier.nodes);
                return -ENOMEM;
        }
        t->tier = grown;
        t->tier[t->n++] = tier;
        return 0;
}

static int read_tiers(const char *root, struct tiers *t, struct buffer *b)
{
        _cleanup_(freep) char *top = path_join(root, TIERS_ROOT);
        struct dirent *entry;
        DIR *dir;
        int r = 0;

        if (!top)
                return -ENOMEM;
        dir = opendir(top);
        if (!dir) {
                t->state = source_state_from_errno(-errno);
                return 0;
        }
        while (r >= 0 && (entry = readdir(dir)))
                r = add_tier(t, top, entry->d_name, b);
        (void)closedir(dir);
        if (t->n > 0)
                qsort(t->tier, t->n, sizeof(*t->tier), compare_tier);
        t->state = t->n > 0 ? SOURCE_OK : SOURCE_ABSENT;
        return r;
}

const struct memory_tier *tiers_find(const struct tiers *t, unsigned node)
{
        for (size_t i = 0; i < t->n; i++)
                if (idlist_contains(&t->tier[i].nodes, node))
                        return &t->tier[i];
        return NULL;
}

bool tiers_cannot_move(const struct tiers *t)
{
        return t->n == 1 && (t->promotion || t->demotion);
}

static const unsigned *distances_of(const struct nodes *nodes, unsigned node)
{
        const struct node *n = nodes_find(nodes, node);

        return n ? n->distance : NULL;
}

/* By the row of distances from one node; UINT_MAX: not known. */
static unsigned distance_to(const struct nodes *nodes, const unsigned *distance, unsigned node)
{
        for (size_t i = 0; i < nodes->n; i++)
                if (nodes->node[i].id == node)
                        return distance[i];
        return UINT_MAX;
}

int tiers_demotion_targets(const struct tiers *t, const struct nodes *nodes, unsigned node,
                           struct idlist *ret)
{
        const struct memory_tier *from = tiers_find(t, node), *to = from ? from + 1 : NULL;
        const unsigned *distance = distances_of(nodes, node);
        unsigned nearest = UINT_MAX;
        int r = 0;

        *ret = (struct idlist){0};
        if (!from || to == t->tier + t->n || !distance)
                return 0;
        for (size_t i = 0; i < to->nodes.n; i++) {
                unsigned d = distance_to(nodes, distance, to->nodes.id[i]);

                nearest = d < nearest ? d : nearest;
        }
        for (size_t i = 0; i < to->nodes.n && nearest < UINT_MAX && r >= 0; i++)
                if (distance_to(nodes, distance, to->nodes.id[i]) == nearest)
                        r = idlist_append(ret, to->nodes.id[i]);
        if (r < 0)
                idlist_done(ret);
        return r;
}

/* ---- /proc/zoneinfo ---------------------------------------------------------------------------
 */

const struct node_reclaim *tiers_find_node(const struct tiers *t, unsigned node)
{
        for (size_t i = 0; i < t->n_nodes; i++)
                if (t->node[i].id == node)
                        return &t->node[i];
        return NULL;
}

bool tiers_node_stuck(const struct node_reclaim *n)
{
        return n->gave_up && n->free_pages < n->low_pages;
}

/* Index of the node "Node N, zone NAME" speaks of, a new one if need be. */
static int node_index(struct tiers *t, const char *line, size_t len, size_t *ret)
{
        size_t at = strlen("Node "), digits = 0;
        struct node_reclaim *grown;
        uint64_t id;

        while (at + digits < len && line[at + digits] >= '0' && line[at + digits] <= '9')
                digits++;
        if (parse_u64(line + at, digits, &id) < 0 || id > IDLIST_ID_MAX)
                return -EINVAL;
        for (size_t i = 0; i < t->n_nodes; i++)
                if (t->node[i].id == id) {
                        *ret = i;
                        return 0;
                }
        grown = reallocarray(t->node, t->n_nodes + 1, sizeof(*grown));
        if (!grown)
                return -ENOMEM;
        t->node = grown;
        t->node[t->n_nodes] = (struct node_reclaim){.id = (unsigned)id};
        *ret = t->n_nodes++;
        return 0;
}

/* The number behind a key, "low      11" or "node_unreclaimable:  0"; -EINVAL: another key. */
static int value_of(const char *line, size_t len, const char *key, uint64_t *ret)
{
        size_t at = strlen(key);

        if (len <= at || strncmp(line, key, at) != 0)
                return -EINVAL;
        while (at < len && line[at] == ' ')
                at++;
        return parse_u64(line + at, len - at, ret);
}

static void take_line(struct node_reclaim *n, const char *line, size_t len)
{
        uint64_t value;

        if (value_of(line, len, "pages free ", &value) == 0)
                n->free_pages += value;
        else if (value_of(line, len, "low ", &value) == 0)
                n->low_pages += value;
        else if (value_of(line, len, "node_unreclaimable: ", &value) == 0)
                n->gave_up |= value > 0;
}

int tiers_parse_zoneinfo(const char *data, size_t len, struct tiers *ret)
{
        const char *end = data + len;
        size_t node = 0;
        int r = -EINVAL; /* what stands before the first node is of none */

        for (const char *p = data; p < end;) {
                const char *newline = memchr(p, '\n', (size_t)(end - p));
                size_t n = (size_t)((newline ? newline : end) - p), blanks = 0;

                if (newline && n > strlen("Node ") && strncmp(p, "Node ", strlen("Node ")) == 0)
                        r = node_index(ret, p, n, &node);
                if (r == -ENOMEM)
                        return r;
                while (blanks < n && p[blanks] == ' ')
                        blanks++;
                /* A last line that was cut short says nothing. */
                if (r == 0 && newline)
                        take_line(&ret->node[node], p + blanks, n - blanks);
                p += n + 1;
        }
        ret->zone_state = ret->n_nodes > 0 ? SOURCE_OK : SOURCE_INVALID;
        return 0;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

static int read_zones(const char *root, struct tiers *t, struct buffer *b)
{
        _cleanup_(freep) char *path = path_join(root, "/proc/zoneinfo");
        int r = path ? buffer_read_path(b, path) : -ENOMEM;

        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                t->zone_state = source_state_from_errno(r);
                return 0;
        }
        return tiers_parse_zoneinfo(b->data, b->len, t);
}

/* The first byte of a file of one digit or word, or 0. */
static char first_byte(const char *root, const char *file, struct buffer *b)
{
        _cleanup_(freep) char *path = path_join(root, file);

        if (!path || buffer_read_path(b, path) < 0)
                return '\0';
        return b->data[0];
}

int tiers_read(const char *root, struct tiers *ret)
{
        struct tiers t = {0};
        struct buffer b = {0};
        char mode = first_byte(root, "/proc/sys/kernel/numa_balancing", &b);
        int r;

        t.promotion = mode == '2' || mode == '3';
        t.demotion = first_byte(root, "/sys/kernel/mm/numa/demotion_enabled", &b) == 't';
        r = read_tiers(root, &t, &b);
        if (r >= 0)
                r = read_zones(root, &t, &b);
        buffer_done(&b);
        if (r < 0)
                tiers_done(&t);
        else
                *ret = t;
        return r;
}
