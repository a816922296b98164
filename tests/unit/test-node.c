/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "node.h"

#include <errno.h>
#include <unistd.h>

#define NODE "sys/devices/system/node/"

/* Nodes 0, 2 and 5; 5 has memory only, as CXL has. */
static void write_three_nodes(const char *dir)
{
        unit_write(dir, NODE "online", "0,2,5\n");
        unit_write(dir, NODE "node0/cpulist", "0-1,8\n");
        unit_write(dir, NODE "node0/distance", "10 21 40\n");
        unit_write(dir, NODE "node0/meminfo",
                   "Node 0 MemTotal:       1000 kB\nNode 0 MemFree:         400 kB\n");
        unit_write(dir, NODE "node0/vmstat",
                   "nr_free_pages 100\nnuma_hit 1000\nnuma_foreign 7\npgpromote_success 50\n");
        unit_write(dir, NODE "node2/cpulist", "2-3\n");
        unit_write(dir, NODE "node2/distance", "21 10 40\n");
        unit_write(dir, NODE "node2/numastat",
                   "numa_hit 55\nnuma_miss 1\nnuma_foreign 2\ninterleave_hit 3\n");
        unit_write(dir, NODE "node5/cpulist", "\n");
        unit_write(dir, NODE "node5/distance", "40 40 10\n");
}

static void read_nodes(const char *dir, struct nodes *ret)
{
        *ret = (struct nodes){0};
        assert_int_equal(nodes_read(dir, ret), 0);
}

/* B3, B4, B7: ids with holes. B11: a node without CPUs, files that are not there. */
static void nodes_are_the_directories_by_id(void **state)
{
        const char *dir = unit_tmpdir(state);
        const struct node *n;
        struct nodes nodes;

        write_three_nodes(dir);
        unit_write(dir, NODE "nodex/cpulist", "9\n");
        unit_write(dir, NODE "node/cpulist", "9\n");
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.state, SOURCE_OK);
        assert_int_equal(nodes.n, 3);
        assert_null(nodes_find(&nodes, 1));
        n = nodes_find(&nodes, 0);
        assert_non_null(n);
        assert_true(n->cpus_known);
        assert_int_equal(n->cpus.n, 3);
        assert_int_equal(n->cpus.id[2], 8);
        assert_non_null(n->distance);
        assert_int_equal(n->distance[2], 40); /* to node 5 */
        assert_true(n->memory_known);
        assert_false(n->memory_odd);
        assert_int_equal(n->total_bytes, 1000 * 1024);
        assert_int_equal(n->free_bytes, 400 * 1024);
        assert_int_equal(n->vmstat.state, SOURCE_OK);
        assert_int_equal(n->vmstat.value[VM_PGPROMOTE_SUCCESS], 50);
        assert_int_equal(n->vmstat.value[VM_NUMA_FOREIGN], 7);
        n = nodes_find(&nodes, 2);
        assert_non_null(n);
        assert_int_equal(n->vmstat.state, SOURCE_OK); /* of numastat */
        assert_int_equal(n->vmstat.value[VM_NUMA_HIT], 55);
        assert_false(vmstat_has(&n->vmstat, VM_PGPROMOTE_SUCCESS));
        assert_false(n->memory_known);
        n = nodes_find(&nodes, 5);
        assert_non_null(n);
        assert_true(n->cpus_known);
        assert_int_equal(n->cpus.n, 0);
        assert_int_equal(n->vmstat.state, SOURCE_ABSENT);
        nodes_done(&nodes);
}

static void numa_counters_are_those_of_numastat(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct nodes nodes;

        write_three_nodes(dir);
        unit_write(dir, NODE "node0/numastat", "numa_hit 1001\nnuma_miss 5\nnuma_foreign 8\n");
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.node[0].vmstat.value[VM_NUMA_HIT], 1001);
        assert_int_equal(nodes.node[0].vmstat.value[VM_NUMA_FOREIGN], 8);
        assert_int_equal(nodes.node[0].vmstat.value[VM_PGPROMOTE_SUCCESS], 50);
        nodes_done(&nodes);
}

static void cpumap_serves_where_there_is_no_list(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct nodes nodes;

        unit_write(dir, NODE "node0/cpumap", "00000001,00000000,0000ff00\n");
        unit_write(dir, NODE "node1/cpumap", "00000000,00000000,00000000\n");
        unit_write(dir, NODE "node2/meminfo", "Node 2 MemTotal: 5 kB\nNode 2 MemFree: 1 kB\n");
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.node[0].cpus.n, 9);
        assert_int_equal(nodes.node[0].cpus.id[0], 8);
        assert_int_equal(nodes.node[0].cpus.id[8], 64);
        assert_true(nodes.node[1].cpus_known);
        assert_int_equal(nodes.node[1].cpus.n, 0);
        assert_false(nodes.node[2].cpus_known);
        nodes_done(&nodes);
}

/* B9: more free than total is capped and flagged, never used = 1.8e19. */
static void more_free_than_total_is_capped(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct nodes nodes;

        write_three_nodes(dir);
        unit_write(dir, NODE "node0/meminfo",
                   "Node 0 MemTotal:       400 kB\nNode 0 MemFree:         1000 kB\n");
        read_nodes(dir, &nodes);
        assert_true(nodes.node[0].memory_known);
        assert_true(nodes.node[0].memory_odd);
        assert_int_equal(nodes.node[0].total_bytes - nodes.node[0].free_bytes, 0);
        nodes_done(&nodes);
}

/* B8: memory hotplug and CXL. */
static void nodes_come_and_go_between_readings(void **state)
{
        const char *dir = unit_tmpdir(state);
        _cleanup_(freep) char *path = strf("%s/" NODE "node2", dir);
        struct nodes nodes;

        write_three_nodes(dir);
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.n, 3);
        nodes_done(&nodes);
        unit_write(dir, NODE "node7/cpulist", "\n");
        unit_write(dir, NODE "node7/distance", "40 40 40 10\n");
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.n, 4);
        assert_non_null(nodes_find(&nodes, 7));
        assert_int_equal(nodes_find(&nodes, 7)->distance[3], 10);
        /* The others' rows were written for three nodes: which number is whose is not known. */
        assert_null(nodes_find(&nodes, 0)->distance);
        nodes_done(&nodes);
        assert_int_equal(nftw(path, unit_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.n, 3);
        assert_null(nodes_find(&nodes, 2));
        nodes_done(&nodes);
}

/* Texts of sysfs end in a newline: without it the last number may be a part of one. */
static void cut_files_leave_their_fields_unknown(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct nodes nodes;

        unit_write(dir, NODE "node0/cpulist", "0-1");   /* of 0-15 */
        unit_write(dir, NODE "node0/distance", "10 2"); /* of 21 */
        unit_write(dir, NODE "node0/meminfo", "Node 0 MemTotal: 1000 kB\nNode 0 MemFree: 40");
        unit_write(dir, NODE "node0/vmstat", "pgpromote_success 5\nnuma_foreign 12");
        unit_write(dir, NODE "node1/cpulist", "0-");
        unit_write(dir, NODE "node1/cpumap", "0000000f\n"); /* serves instead */
        unit_write(dir, NODE "node1/distance", "21 10\n\0");
        unit_write(dir, NODE "node1/meminfo",
                   "Node 1 MemTotal: 1000 kB\nNode 1 MemFree: 40 kB\nNod");
        read_nodes(dir, &nodes);
        assert_false(nodes.node[0].cpus_known);
        assert_int_equal(nodes.node[0].cpus.n, 0);
        assert_null(nodes.node[0].distance);
        assert_false(nodes.node[0].memory_known);
        assert_int_equal(nodes.node[0].vmstat.state, SOURCE_TRUNCATED);
        assert_true(vmstat_has(&nodes.node[0].vmstat, VM_PGPROMOTE_SUCCESS));
        assert_false(vmstat_has(&nodes.node[0].vmstat, VM_NUMA_FOREIGN));
        assert_int_equal(nodes.node[1].cpus.n, 4);
        assert_non_null(nodes.node[1].distance);
        assert_true(nodes.node[1].memory_known);
        nodes_done(&nodes);
}

static void odd_distances_are_unknown(void **state)
{
        static const char *const bad[] = {"10\n",    "10 20 30\n", "10 x\n",
                                          "10 -1\n", "\n",         "10 99999999999\n"};
        const char *dir = unit_tmpdir(state);

        unit_write(dir, NODE "node1/cpulist", "0\n");
        for (size_t b = 0; b < ELEMENTSOF(bad); b++) {
                struct nodes nodes;

                unit_write(dir, NODE "node0/distance", bad[b]);
                read_nodes(dir, &nodes);
                assert_null(nodes.node[0].distance);
                nodes_done(&nodes);
        }
}

static void no_nodes_at_all_is_a_state(void **state)
{
        const char *dir = unit_tmpdir(state);
        struct nodes nodes;

        read_nodes(dir, &nodes);
        assert_int_equal(nodes.state, SOURCE_ABSENT);
        assert_int_equal(nodes.n, 0);
        nodes_done(&nodes);
        unit_write(dir, NODE "online", "0\n"); /* the folder without a node */
        read_nodes(dir, &nodes);
        assert_int_equal(nodes.state, SOURCE_ABSENT);
        nodes_done(&nodes);
}

/* What libnuma says of this machine is what sysfs says as text. */
static void libnuma_and_text_agree(void **state)
{
        struct nodes live, text;

        (void)state;
        read_nodes("", &live);
        read_nodes("/.", &text); /* the same files, as a tree of its own */
        if (live.state == SOURCE_ABSENT) {
                print_message("# skip: this machine has no NUMA nodes in sysfs\n");
                skip();
        }
        assert_int_equal(live.n, text.n);
        assert_true(live.n > 0);
        for (size_t i = 0; i < live.n; i++) {
                assert_int_equal(live.node[i].id, text.node[i].id);
                assert_true(live.node[i].cpus_known && text.node[i].cpus_known);
                assert_true(idlist_equal(&live.node[i].cpus, &text.node[i].cpus));
                assert_non_null(live.node[i].distance);
                assert_non_null(text.node[i].distance);
                assert_memory_equal(live.node[i].distance, text.node[i].distance,
                                    live.n * sizeof(*live.node[i].distance));
                assert_int_equal(live.node[i].total_bytes, text.node[i].total_bytes);
        }
        nodes_done(&live);
        nodes_done(&text);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#define CASE(f) cmocka_unit_test_setup_teardown(f, unit_tmpdir_make, unit_tmpdir_remove)
                CASE(nodes_are_the_directories_by_id),
                CASE(numa_counters_are_those_of_numastat),
                CASE(cpumap_serves_where_there_is_no_list),
                CASE(more_free_than_total_is_capped),
                CASE(nodes_come_and_go_between_readings),
                CASE(cut_files_leave_their_fields_unknown),
                CASE(odd_distances_are_unknown),
                CASE(no_nodes_at_all_is_a_state),
                cmocka_unit_test(libnuma_and_text_agree),
        };

        return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
