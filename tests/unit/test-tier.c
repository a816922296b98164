/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "tier.h"

/* A zone as Linux 7.3 prints it (mm/vmstat.c), without most of its counters. */
#define ZONE(node, name, free, low, unreclaimable)                                                 \
        "Node " node ", zone " name "\n"                                                           \
        "  per-node stats\n"                                                                       \
        "      nr_inactive_anon 17\n"                                                              \
        "      nr_slab_unreclaimable 29543\n"                                                      \
        "  pages free     " free "\n"                                                              \
        "        boost    0\n"                                                                     \
        "        min      11\n"                                                                    \
        "        low      " low "\n"                                                               \
        "        high     21\n"                                                                    \
        "        promo    26\n"                                                                    \
        "        spanned  4095\n"                                                                  \
        "        protection: (0, 2991, 24065, 24065, 24065)\n"                                     \
        "      nr_free_pages " free "\n"                                                           \
        "  pagesets\n"                                                                             \
        "    cpu: 0\n"                                                                             \
        "              count:    0\n"                                                              \
        "              high:     7\n"                                                              \
        "  vm stats threshold: 2\n"                                                                \
        "  node_unreclaimable:  " unreclaimable "\n"                                               \
        "  start_pfn:           1\n"

static void tier(const char *dir, unsigned id, const char *nodes)
{
        char path[256];

        (void)snprintf(path, sizeof(path),
                       "sys/devices/virtual/memory_tiering/memory_tier%u/nodelist", id);
        unit_write(dir, path, nodes);
}

static void node(const char *dir, unsigned id, const char *distance)
{
        char path[256];

        (void)snprintf(path, sizeof(path), "sys/devices/system/node/node%u/distance", id);
        unit_write(dir, path, distance);
        (void)snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", id);
        unit_write(dir, path, "\n");
}

static void read_ok(const char *dir, struct tiers *t)
{
        assert_int_equal(tiers_read(dir, t), 0);
}

static void what_is_missing_is_a_state(void **state)
{
        struct tiers t;

        read_ok(unit_tmpdir(state), &t);
        assert_int_equal(t.state, SOURCE_ABSENT);
        assert_int_equal(t.zone_state, SOURCE_ABSENT);
        assert_int_equal(t.n, 0);
        assert_int_equal(t.n_nodes, 0);
        assert_false(t.promotion || t.demotion);
        assert_false(tiers_cannot_move(&t));
        assert_null(tiers_find(&t, 0));
        assert_null(tiers_find_node(&t, 0));
        tiers_done(&t);
}

static void tiers_are_in_order_of_speed(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct tiers t;

        tier(dir, 22, "4-5\n");
        tier(dir, 4, "0-1,7\n");
        tier(dir, 961, "9\n");
        tier(dir, 5, "\n"); /* without memory */
        tier(dir, 6, "junk\n");
        unit_write(dir, "sys/devices/virtual/memory_tiering/memory_tierX/nodelist", "8\n");
        unit_write(dir, "sys/devices/virtual/memory_tiering/power/nodelist", "8\n");
        unit_write(dir, "sys/devices/virtual/memory_tiering/memory_tier99999999999/nodelist",
                   "8\n");
        read_ok(dir, &t);
        assert_int_equal(t.state, SOURCE_OK);
        assert_int_equal(t.n, 3);
        assert_int_equal(t.tier[0].id, 4);
        assert_int_equal(t.tier[1].id, 22);
        assert_int_equal(t.tier[2].id, 961);
        assert_int_equal(tiers_find(&t, 7)->id, 4);
        assert_int_equal(tiers_find(&t, 5)->id, 22);
        assert_null(tiers_find(&t, 8));
        tiers_done(&t);
}

/* Field report C10: CXL memory in the tier of DRAM. */
static void tiering_needs_a_second_tier(void **state)
{
        static const struct {
                const char *balancing, *demotion;
                bool one, two; /* cannot move with one tier, with two */
        } way[] = {{"0\n", "false\n", false, false}, {"1\n", "false\n", false, false},
                   {"2\n", "false\n", true, false},  {"3\n", "false\n", true, false},
                   {"1\n", "true\n", true, false},   {"2\n", "true\n", true, false}};
        const char *dir = unit_tmpdir(state);

        tier(dir, 4, "0-3\n");
        for (size_t i = 0; i < ELEMENTSOF(way); i++) {
                struct tiers t;

                unit_write(dir, "proc/sys/kernel/numa_balancing", way[i].balancing);
                unit_write(dir, "sys/kernel/mm/numa/demotion_enabled", way[i].demotion);
                tier(dir, 22, "\n");
                read_ok(dir, &t);
                assert_int_equal(tiers_cannot_move(&t), way[i].one);
                tiers_done(&t);
                tier(dir, 22, "4\n");
                read_ok(dir, &t);
                assert_int_equal(tiers_cannot_move(&t), way[i].two);
                tiers_done(&t);
        }
}

static void targets_are_the_nearest_nodes_of_the_next_tier(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct nodes nodes;
        struct idlist to;
        struct tiers t;

        /* Two sockets with memory of their own each, and one node further away for both. */
        tier(dir, 4, "0-1\n");
        tier(dir, 22, "2-3\n");
        tier(dir, 30, "6\n");
        node(dir, 0, "10 21 17 28 40\n");
        node(dir, 1, "21 10 28 17 40\n");
        node(dir, 2, "17 28 10 28 30\n");
        node(dir, 3, "28 17 28 10 30\n");
        node(dir, 6, "40 40 30 30 10\n");
        read_ok(dir, &t);
        assert_int_equal(nodes_read(dir, &nodes), 0);
        assert_int_equal(nodes.n, 5);
        assert_int_equal(tiers_demotion_targets(&t, &nodes, 0, &to), 0);
        assert_int_equal(to.n, 1);
        assert_int_equal(to.id[0], 2);
        idlist_done(&to);
        assert_int_equal(tiers_demotion_targets(&t, &nodes, 1, &to), 0);
        assert_int_equal(to.n, 1);
        assert_int_equal(to.id[0], 3);
        idlist_done(&to);
        assert_int_equal(tiers_demotion_targets(&t, &nodes, 3, &to), 0);
        assert_int_equal(to.n, 1);
        assert_int_equal(to.id[0], 6);
        idlist_done(&to);
        assert_int_equal(tiers_demotion_targets(&t, &nodes, 6, &to), 0);
        assert_int_equal(to.n, 0); /* the slowest */
        assert_int_equal(tiers_demotion_targets(&t, &nodes, 5, &to), 0);
        assert_int_equal(to.n, 0); /* no such node */
        tiers_done(&t);
        /* at the same distance: both */
        tier(dir, 22, "2-3\n");
        node(dir, 0, "10 21 17 17 40\n");
        nodes_done(&nodes);
        assert_int_equal(nodes_read(dir, &nodes), 0);
        read_ok(dir, &t);
        assert_int_equal(tiers_demotion_targets(&t, &nodes, 0, &to), 0);
        assert_int_equal(to.n, 2);
        idlist_done(&to);
        nodes_done(&nodes);
        tiers_done(&t);
}

/* Field report C11: kswapd of a node is off for ever, as nothing wakes it. */
static void kswapd_that_gave_up_is_stuck_while_memory_is_short(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct tiers t;

        unit_write(dir, "proc/zoneinfo",
                   ZONE("0", "     DMA", "3840", "16", "1")
                           ZONE("0", "  Normal", "100", "5000", "1")
                                   ZONE("2", "  Normal", "9000", "5000", "1")
                                           ZONE("10", " Movable", "100", "5000", "0"));
        read_ok(dir, &t);
        assert_int_equal(t.zone_state, SOURCE_OK);
        assert_int_equal(t.n_nodes, 3);
        assert_int_equal(t.node[0].id, 0);
        assert_int_equal(t.node[0].free_pages, 3940);
        assert_int_equal(t.node[0].low_pages, 5016);
        assert_true(t.node[0].gave_up);
        assert_true(tiers_node_stuck(&t.node[0]));
        /* It gave up, but others have freed memory since. */
        assert_true(t.node[1].gave_up);
        assert_false(tiers_node_stuck(&t.node[1]));
        /* Short of memory, and kswapd is at it. */
        assert_int_equal(tiers_find_node(&t, 10)->free_pages, 100);
        assert_false(tiers_node_stuck(tiers_find_node(&t, 10)));
        tiers_done(&t);
}

static void zoneinfo_may_be_cut_or_something_else(void **state)
{
        static const char whole[] =
                ZONE("0", "     DMA", "3840", "16", "1") ZONE("1", "  Normal", "100", "5000", "1");

        (void)state;
        for (size_t len = 0; len < sizeof(whole); len++) {
                char *cut = malloc(len + 1); /* ASan sees its end */
                struct tiers t = {0};

                assert_non_null(cut);
                memcpy(cut, whole, len);
                assert_int_equal(tiers_parse_zoneinfo(cut, len, &t), 0);
                for (size_t i = 0; i < t.n_nodes; i++) {
                        assert_true(t.node[i].id <= 1);
                        assert_true(t.node[i].free_pages == 0 ||
                                    t.node[i].free_pages == (i == 0 ? 3840 : 100));
                        assert_true(t.node[i].low_pages == 0 ||
                                    t.node[i].low_pages == (i == 0 ? 16 : 5000));
                }
                tiers_done(&t);
                free(cut);
        }
        {
                static const char *const odd[] = {"",
                                                  "\n\n",
                                                  "Node",
                                                  "Node x, zone DMA\n  pages free 5\n",
                                                  "  pages free     5\n        low      1\n",
                                                  "Node 99999999999, zone DMA\n  pages free 5\n"};

                for (size_t i = 0; i < ELEMENTSOF(odd); i++) {
                        struct tiers t = {0};

                        assert_int_equal(tiers_parse_zoneinfo(odd[i], strlen(odd[i]), &t), 0);
                        assert_int_equal(t.zone_state, SOURCE_INVALID);
                        assert_int_equal(t.n_nodes, 0);
                        tiers_done(&t);
                }
        }
}

/* As large as with 384 CPUs and four zones; the kernel's part of the cost is not in it. */
static void cost_of_a_large_zoneinfo(void **state)
{
        char *text = NULL;
        struct tiers t = {0};
        uint64_t start;
        size_t len;
        FILE *f = open_memstream(&text, &len);

        (void)state;
        assert_non_null(f);
        for (unsigned zone = 0; zone < 4; zone++) {
                (void)fprintf(f,
                              "Node %u, zone   Normal\n  pages free     %u\n        low      5\n",
                              zone / 3, zone);
                for (unsigned cpu = 0; cpu < 384; cpu++)
                        (void)fprintf(f,
                                      "    cpu: %u\n              count:    0\n"
                                      "              high:     7\n              batch:    1\n"
                                      "              high_min: 7\n              high_max: 9\n"
                                      "  vm stats threshold: 2\n",
                                      cpu);
                (void)fputs("  node_unreclaimable:  0\n", f);
        }
        assert_int_equal(fclose(f), 0);
        start = now_cputime_ns();
        assert_int_equal(tiers_parse_zoneinfo(text, len, &t), 0);
        print_message("# %zu kB of zoneinfo: %.2f ms of CPU time\n", len / 1000,
                      (double)(now_cputime_ns() - start) / 1e6);
        assert_int_equal(t.n_nodes, 2);
        assert_int_equal(t.node[0].free_pages, 0 + 1 + 2);
        tiers_done(&t);
        free(text);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)

int main(void)
{
        const struct CMUnitTest tests[] = {
                CASE(what_is_missing_is_a_state),
                CASE(tiers_are_in_order_of_speed),
                CASE(tiering_needs_a_second_tier),
                CASE(targets_are_the_nearest_nodes_of_the_next_tier),
                CASE(kswapd_that_gave_up_is_stuck_while_memory_is_short),
                CASE(zoneinfo_may_be_cut_or_something_else),
                CASE(cost_of_a_large_zoneinfo),
        };

        return cmocka_run_group_tests_name("tier", tests, NULL, NULL);
}
