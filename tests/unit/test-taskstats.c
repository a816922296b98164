/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "unit.h"

#include "taskstats.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Bytes of struct taskstats up to its end in each version (include/uapi/linux/taskstats.h). */
static const struct {
        uint16_t version;
        size_t len;
} shape[] = {{9, 344},  {10, 352}, {11, 368}, {12, 400}, {13, 416},
             {14, 432}, {15, 560}, {16, 560}, {17, 688}};

static void put64(unsigned char *data, size_t offset, uint64_t value)
{
        memcpy(data + offset, &value, sizeof(value));
}

/* A record whose delays are 1000 + kind long and happened 10 + kind times. */
static void fill(unsigned char *data, uint16_t version)
{
        bool v15 = version == 15;
        const size_t usual[DELAY_COUNT] = {312, 328, 48, 352, 416};
        const size_t other[DELAY_COUNT] = {360, 392, 80, 432, 528};

        memset(data, 0xee, 1024);
        memcpy(data, &version, sizeof(version));
        memcpy(data + (v15 ? 128 : 80), "worker", sizeof("worker"));
        memcpy(data + (v15 ? 176 : 128), &(uint32_t){4711}, 4);
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                put64(data, (v15 ? other : usual)[k], 10 + k);
                put64(data, (v15 ? other : usual)[k] + 8, 1000 + k);
        }
}

static bool has(uint16_t version, enum delay_kind kind)
{
        return kind == DELAY_COMPACT ? version >= 11 : kind == DELAY_IRQ ? version >= 14 : true;
}

static void every_version_is_read_by_its_length(void **state)
{
        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(shape); i++) {
                unsigned char data[1024];
                struct task_delays t;

                fill(data, shape[i].version);
                assert_int_equal(taskstats_parse(data, shape[i].len, &t), 0);
                assert_int_equal(t.version, shape[i].version);
                assert_string_equal(t.comm, "worker");
                assert_int_equal(t.pid, 4711);
                for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                        assert_int_equal(t.delay[k].known, has(shape[i].version, k));
                        if (t.delay[k].known) {
                                assert_int_equal(t.delay[k].count, 10 + k);
                                assert_int_equal(t.delay[k].total_ns, 1000 + k);
                        }
                }
        }
}

static void nothing_is_read_beyond_a_record_that_was_cut(void **state)
{
        (void)state;
        for (size_t i = 0; i < ELEMENTSOF(shape); i++)
                for (size_t len = 0; len < shape[i].len; len++) {
                        unsigned char whole[1024];
                        unsigned char *data = malloc(len ? len : 1); /* ASan sees the end */
                        struct task_delays t;

                        assert_non_null(data);
                        fill(whole, shape[i].version);
                        memcpy(data, whole, len);
                        if (taskstats_parse(data, len, &t) == 0)
                                for (enum delay_kind k = 0; k < DELAY_COUNT; k++)
                                        assert_true(!t.delay[k].known ||
                                                    t.delay[k].total_ns == 1000 + k);
                        free(data);
                }
}

static void no_version_is_refused(void **state)
{
        unsigned char data[1024] = {0};
        struct task_delays t;

        (void)state;
        assert_int_equal(taskstats_parse(data, sizeof(data), &t), -EBADMSG);
        assert_int_equal(taskstats_parse(data, 0, &t), -EBADMSG);
}

/* A client, or the case is skipped. */
static struct taskstats_client *open_or_skip(void)
{
        struct taskstats_client *client = NULL;
        int r = taskstats_open(&client);

        if (r == -EPERM || r == -EOPNOTSUPP) {
                print_message("# skip: %s\n",
                              r == -EPERM ? "no CAP_NET_ADMIN" : "no taskstats in this kernel");
                skip();
        }
        assert_int_equal(r, 0);
        return client;
}

static void kernel_answers_about_this_process(void **state)
{
        struct taskstats_client *client = open_or_skip();
        struct task_delays t;

        (void)state;
        assert_int_equal(taskstats_get_process(client, getpid(), &t), 0);
        assert_true(t.version >= 9);
        assert_true(t.delay[DELAY_FREEPAGES].known);
        assert_int_equal(taskstats_get_process(client, 4194304, &t), -ESRCH);
        taskstats_close(&client);
        assert_null(client);
}

static void end_children(unsigned n)
{
        for (unsigned i = 0; i < n; i++) {
                pid_t child = fork();

                assert_true(child >= 0);
                if (child == 0)
                        _exit(0);
                assert_int_equal(waitpid(child, NULL, 0), child);
        }
}

static void count_exit(const struct task_delays *task, bool group, void *userdata)
{
        unsigned *seen = userdata;

        assert_true(task->version >= 9);
        *seen += !group;
}

static struct taskstats_client *watch_or_skip(unsigned *seen)
{
        struct taskstats_client *client = open_or_skip();
        struct buffer b = {0};
        int r;

        assert_int_equal(buffer_read_path(&b, "/sys/devices/system/cpu/possible"), 0);
        b.data[strcspn(b.data, "\n")] = '\0';
        r = taskstats_watch_exits(client, b.data, count_exit, seen);
        buffer_done(&b);
        if (r == -EINVAL) {
                taskstats_close(&client);
                print_message("# skip: exits are heard outside of containers only\n");
                skip();
        }
        assert_int_equal(r, 0);
        return client;
}

static void burst_of_exits_is_heard(void **state)
{
        unsigned heard = 0;
        struct taskstats_client *client = watch_or_skip(&heard);
        struct taskstats_exits counts = {0};
        uint64_t start;

        (void)state;
        end_children(1000);
        start = now_cputime_ns();
        assert_int_equal(taskstats_dispatch(client, &counts), 0);
        print_message("# %.1f us of CPU time for each exit that is heard\n",
                      (double)(now_cputime_ns() - start) / 1000 / (double)counts.seen);
        assert_true(counts.seen >= 1000); /* other processes end too */
        assert_int_equal(counts.seen, heard);
        assert_int_equal(counts.lost, 0);
        taskstats_close(&client);
}

/* The kernel reports ENOBUFS once for all it had to drop. */
static void lost_exits_are_counted_and_the_next_are_heard(void **state)
{
        unsigned heard = 0;
        struct taskstats_client *client = watch_or_skip(&heard);
        struct taskstats_exits counts = {0};
        uint64_t before;
        int small = 4096;

        (void)state;
        assert_int_equal(
                setsockopt(taskstats_exit_fd(client), SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)),
                0);
        end_children(300);
        assert_int_equal(taskstats_dispatch(client, &counts), 0);
        assert_true(counts.lost > 0);
        assert_true(counts.seen > 0 && counts.seen < 300);
        before = counts.seen;
        end_children(1);
        assert_int_equal(taskstats_dispatch(client, &counts), 0);
        assert_true(counts.seen > before);
        assert_int_equal(counts.seen, heard);
        taskstats_close(&client);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_version_is_read_by_its_length),
                cmocka_unit_test(nothing_is_read_beyond_a_record_that_was_cut),
                cmocka_unit_test(no_version_is_refused),
                cmocka_unit_test(kernel_answers_about_this_process),
                cmocka_unit_test(burst_of_exits_is_heard),
                cmocka_unit_test(lost_exits_are_counted_and_the_next_are_heard),
        };

        return cmocka_run_group_tests_name("taskstats", tests, NULL, NULL);
}
