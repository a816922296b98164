/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "taskstats.h"

#include <errno.h>
#include <linux/taskstats.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

/* For a burst of exits; the kernel charges about 1.3 kB for each and doubles what is asked for. */
#define EXIT_BUFFER_BYTES (4 * 1024 * 1024)

const char *delay_name(enum delay_kind kind)
{
        static const char *const name[DELAY_COUNT] = {
                [DELAY_FREEPAGES] = "freepages",
                [DELAY_THRASHING] = "thrashing",
                [DELAY_SWAPIN] = "swapin",
                [DELAY_COMPACT] = "compact",
                [DELAY_IRQ] = "irq",
        };

        return name[kind];
}

/* ---- struct taskstats -------------------------------------------------------------------------
 */

/* Where count is; total follows it. In version 15 a maximum and a minimum, 16 bytes, stood behind
 * every total. */
struct layout {
        size_t comm, pid, ppid;
        size_t count[DELAY_COUNT];
};

static const struct layout layout_usual = {
        .comm = 80,
        .pid = 128,
        .ppid = 132,
        .count = {[DELAY_SWAPIN] = 48,
                  [DELAY_FREEPAGES] = 312,
                  [DELAY_THRASHING] = 328,
                  [DELAY_COMPACT] = 352,
                  [DELAY_IRQ] = 416},
};
static const struct layout layout_15 = {
        .comm = 128,
        .pid = 176,
        .ppid = 180,
        .count = {[DELAY_SWAPIN] = 80,
                  [DELAY_FREEPAGES] = 360,
                  [DELAY_THRASHING] = 392,
                  [DELAY_COMPACT] = 432,
                  [DELAY_IRQ] = 528},
};

#if TASKSTATS_VERSION != 15
_Static_assert(offsetof(struct taskstats, ac_comm) == 80 &&
                       offsetof(struct taskstats, ac_pid) == 128 &&
                       offsetof(struct taskstats, swapin_count) == 48 &&
                       offsetof(struct taskstats, freepages_count) == 312 &&
                       offsetof(struct taskstats, thrashing_count) == 328,
               "layout_usual is that of linux/taskstats.h");
#endif
#if TASKSTATS_VERSION >= 11 && TASKSTATS_VERSION != 15
_Static_assert(offsetof(struct taskstats, compact_count) == 352, "layout_usual, version 11");
#endif

/* From which version on each delay is there, whatever the length. */
static const uint16_t since_version[DELAY_COUNT] = {
        [DELAY_SWAPIN] = 1,   [DELAY_FREEPAGES] = 8, [DELAY_THRASHING] = 9,
        [DELAY_COMPACT] = 11, [DELAY_IRQ] = 14,
};

static void take(const void *data, size_t len, size_t offset, void *to, size_t size)
{
        if (offset + size <= len)
                memcpy(to, (const char *)data + offset, size);
}

int taskstats_parse(const void *data, size_t len, struct task_delays *ret)
{
        struct task_delays t = {0};
        const struct layout *layout;

        take(data, len, 0, &t.version, sizeof(t.version));
        layout = t.version == 15 ? &layout_15 : &layout_usual;
        if (t.version == 0 || len < layout->comm)
                return -EBADMSG;
        take(data, len, layout->comm, t.comm, sizeof(t.comm) - 1);
        take(data, len, layout->pid, &t.pid, sizeof(t.pid));
        take(data, len, layout->ppid, &t.ppid, sizeof(t.ppid));
        for (enum delay_kind k = 0; k < DELAY_COUNT; k++) {
                struct delay *d = &t.delay[k];

                if (t.version < since_version[k] || layout->count[k] + 16 > len)
                        continue;
                take(data, len, layout->count[k], &d->count, sizeof(d->count));
                take(data, len, layout->count[k] + 8, &d->total_ns, sizeof(d->total_ns));
                d->known = true;
        }
        *ret = t;
        return 0;
}

/* ---- netlink ----------------------------------------------------------------------------------
 */

struct taskstats_client {
        struct nl_sock *ask, *hear;
        int family;
        taskstats_exit_fn fn;
        void *userdata;
        struct taskstats_exits *counts; /* during taskstats_dispatch() */
        struct task_delays *answer;     /* during taskstats_get_process() */
        bool answered;
        int answer_error; /* what came could not be taken apart */
};

/* libnl's own error numbers as negative errno. */
static int error_from_nl(int r)
{
        switch (-r) {
        case NLE_SUCCESS:
                return 0;
        case NLE_NOMEM:
                return -ENOMEM;
        case NLE_PERM:
        case NLE_NOACCESS:
                return -EPERM;
        case NLE_OBJ_NOTFOUND:
        case NLE_NOATTR:
                return -ESRCH;
        case NLE_OPNOTSUPP:
        case NLE_PROTO_MISMATCH:
        case NLE_AF_NOSUPPORT:
                return -EOPNOTSUPP;
        case NLE_AGAIN:
        case NLE_INTR:
                return -EAGAIN;
        case NLE_INVAL:
                return -EINVAL;
        default:
                return -EIO;
        }
}

/* The statistics inside AGGR_PID or AGGR_TGID. */
static int parse_aggregate(struct nlattr *aggregate, struct task_delays *ret)
{
        struct nlattr *attr[TASKSTATS_TYPE_MAX + 1];
        int r = nla_parse_nested(attr, TASKSTATS_TYPE_MAX, aggregate, NULL);

        if (r < 0 || !attr[TASKSTATS_TYPE_STATS])
                return -EBADMSG;
        return taskstats_parse(nla_data(attr[TASKSTATS_TYPE_STATS]),
                               (size_t)nla_len(attr[TASKSTATS_TYPE_STATS]), ret);
}

static int on_message(struct nl_msg *message, void *userdata)
{
        struct taskstats_client *t = userdata;
        struct nlattr *attr[TASKSTATS_TYPE_MAX + 1];
        struct task_delays delays;

        if (genlmsg_parse(nlmsg_hdr(message), 0, attr, TASKSTATS_TYPE_MAX, NULL) < 0)
                return NL_SKIP;
        for (int type = TASKSTATS_TYPE_AGGR_PID; type <= TASKSTATS_TYPE_AGGR_TGID; type++) {
                bool group = type == TASKSTATS_TYPE_AGGR_TGID;
                int r;

                if (!attr[type])
                        continue;
                r = parse_aggregate(attr[type], &delays);
                if (t->answer) {
                        t->answer_error = r;
                        t->answered = true;
                        if (r == 0)
                                *t->answer = delays;
                } else if (t->counts && r == 0) {
                        if (!group)
                                t->counts->seen++;
                        t->fn(&delays, group, t->userdata);
                }
        }
        return NL_OK;
}

static int connect_socket(struct taskstats_client *t, struct nl_sock **ret)
{
        struct nl_sock *s = nl_socket_alloc();
        int r;

        if (!s)
                return -ENOMEM;
        r = genl_connect(s);
        if (r == 0)
                r = nl_socket_modify_cb(s, NL_CB_VALID, NL_CB_CUSTOM, on_message, t);
        if (r < 0) {
                nl_socket_free(s);
                return error_from_nl(r);
        }
        *ret = s;
        return 0;
}

int taskstats_open(struct taskstats_client **ret)
{
        struct taskstats_client *t = calloc(1, sizeof(*t));
        struct task_delays self;
        int r;

        if (!t)
                return -ENOMEM;
        r = connect_socket(t, &t->ask);
        if (r == 0) {
                t->family = genl_ctrl_resolve(t->ask, TASKSTATS_GENL_NAME);
                if (t->family < 0)
                        r = -EOPNOTSUPP;
                nl_socket_disable_auto_ack(t->ask);
                nl_socket_disable_seq_check(t->ask);
        }
        /* The kernel answers before sendmsg(2) returns: whoever has to wait would wait for ever. */
        if (r == 0)
                r = error_from_nl(nl_socket_set_nonblocking(t->ask));
        /* Whether we may is known only by asking. */
        if (r == 0)
                r = taskstats_get_process(t, 1, &self);
        if (r < 0 && r != -ESRCH) {
                taskstats_close(&t);
                return r;
        }
        *ret = t;
        return 0;
}

void taskstats_close(struct taskstats_client **t)
{
        if (!*t)
                return;
        nl_socket_free((*t)->ask);
        nl_socket_free((*t)->hear);
        free(*t);
        *t = NULL;
}

static struct nl_msg *new_request(const struct taskstats_client *t)
{
        struct nl_msg *m = nlmsg_alloc();

        if (m && !genlmsg_put(m, NL_AUTO_PORT, NL_AUTO_SEQ, t->family, 0, 0, TASKSTATS_CMD_GET,
                              TASKSTATS_GENL_VERSION)) {
                nlmsg_free(m);
                return NULL;
        }
        return m;
}

int taskstats_get_process(struct taskstats_client *t, pid_t tgid, struct task_delays *ret)
{
        struct nl_msg *m = new_request(t);
        int r;

        if (!m)
                return -ENOMEM;
        r = nla_put_u32(m, TASKSTATS_CMD_ATTR_TGID, (uint32_t)tgid);
        if (r < 0) {
                nlmsg_free(m);
                return error_from_nl(r);
        }
        t->answer = ret;
        t->answered = false;
        t->answer_error = 0;
        r = nl_send_auto(t->ask, m);
        nlmsg_free(m);
        /* An answer or an error; an acknowledgement left over from an earlier exchange is neither.
         */
        while (r >= 0 && !t->answered)
                r = nl_recvmsgs_default(t->ask);
        t->answer = NULL;
        return r < 0 ? error_from_nl(r) : t->answer_error;
}

/* Beyond net.core.rmem_max, which is meant for others: taskstats needs CAP_NET_ADMIN anyway. */
static int enlarge_buffer(struct nl_sock *s)
{
        int bytes = EXIT_BUFFER_BYTES;

        if (setsockopt(nl_socket_get_fd(s), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) == 0)
                return 0;
        return nl_socket_set_buffer_size(s, EXIT_BUFFER_BYTES, 0);
}

int taskstats_watch_exits(struct taskstats_client *t, const char *cpus, taskstats_exit_fn fn,
                          void *userdata)
{
        struct nl_msg *m;
        int r = connect_socket(t, &t->hear);

        if (r < 0)
                return r;
        t->fn = fn;
        t->userdata = userdata;
        nl_socket_disable_seq_check(t->hear);
        r = enlarge_buffer(t->hear);
        m = r == 0 ? new_request(t) : NULL;
        if (m)
                r = nla_put_string(m, TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus);
        if (m && r == 0)
                r = nl_send_sync(t->hear, m);
        else
                nlmsg_free(m);
        if (r == 0)
                r = nl_socket_set_nonblocking(t->hear);
        if (r == 0)
                return 0;
        nl_socket_free(t->hear);
        t->hear = NULL;
        return error_from_nl(r);
}

int taskstats_exit_fd(const struct taskstats_client *t)
{
        return t->hear ? nl_socket_get_fd(t->hear) : -1;
}

int taskstats_dispatch(struct taskstats_client *t, struct taskstats_exits *counts)
{
        int r = 0;

        if (!t->hear)
                return 0;
        t->counts = counts;
        do {
                errno = 0;
                r = nl_recvmsgs_default(t->hear);
                /* ENOBUFS comes through libnl as "out of memory". What was dropped is gone; what
                 * comes next is whole. */
                if (r == -NLE_NOMEM && errno == ENOBUFS) {
                        counts->lost++;
                        r = 0;
                }
        } while (r >= 0);
        t->counts = NULL;
        r = error_from_nl(r);
        return r == -EAGAIN ? 0 : r;
}
