/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "machine.h"

#include "restore.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* AMD64 Architecture Programmer's Manual, CPUID Fn8000_0008 EBX[3]. */
static bool cpu_has_invlpgb(void)
{
        unsigned eax, ebx, ecx, edx;

        return __get_cpuid(0x80000008, &eax, &ebx, &ecx, &edx) && (ebx & (1u << 3));
}
#else
/* arm64 broadcasts in hardware too, but has no TLB row that could mislead. */
static bool cpu_has_invlpgb(void)
{
        return false;
}
#endif

/* Whether a word stands in the first "flags" line. */
static bool has_flag(const char *cpuinfo, const char *flag)
{
        const char *line = strstr(cpuinfo, "\nflags");
        size_t len = strlen(flag), rest;

        if (!line)
                return false;
        line++;
        rest = strcspn(line, "\n");
        for (const char *p = line; (p = memmem(p, rest - (size_t)(p - line), flag, len)); p += len)
                if (p[-1] == ' ' && (p[len] == ' ' || p[len] == '\n' || p[len] == '\0'))
                        return true;
        return false;
}

bool machine_kernel_broadcasts(const char *release, const char *cmdline)
{
        char *end;
        unsigned long major = strtoul(release, &end, 10);
        unsigned long minor = *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

        if (major < 6 || (major == 6 && minor < 15))
                return false;
        for (const char *p = cmdline; (p = strstr(p, "tlbi=ipi")); p++)
                if ((p == cmdline || p[-1] == ' ') && strchr(" \n", p[8]))
                        return false;
        return true;
}

/* Asked of this machine's CPU and kernel. */
static bool live_broadcast(const char *release)
{
        _cleanup_(buffer_done) struct buffer b = {0};

        return cpu_has_invlpgb() &&
               machine_kernel_broadcasts(release,
                                         buffer_read_path(&b, "/proc/cmdline") == 0 ? b.data : "");
}

static bool exists(const char *root, const char *path)
{
        _cleanup_(freep) char *full = path_join(root, path);

        return full && access(full, F_OK) == 0;
}

static void read_release(const char *root, struct buffer *b, struct machine *m)
{
        _cleanup_(freep) char *path = path_join(root, "/proc/sys/kernel/osrelease");

        if (path && buffer_read_path(b, path) == 0) {
                b->data[strcspn(b->data, "\n")] = '\0';
                (void)snprintf(m->release, sizeof(m->release), "%s", b->data);
        }
}

int machine_read(const char *root, struct machine *ret)
{
        _cleanup_(freep) char *cpuinfo = path_join(root, "/proc/cpuinfo");
        _cleanup_(buffer_done) struct buffer b = {0};
        int r;

        *ret = (struct machine){0};
        if (!cpuinfo)
                return -ENOMEM;
        if (buffer_read_path(&b, cpuinfo) == 0) {
                ret->hypervisor = has_flag(b.data, "hypervisor");
                ret->broadcast = has_flag(b.data, "invlpgb");
        }
        read_release(root, &b, ret);
        if (!root || !*root)
                ret->broadcast |= live_broadcast(ret->release);
        r = boot_id_read(root, ret->boot_id);
        if (r == -ENOMEM)
                return r;
        ret->policy = exists(root, "/sys/kernel/mm/tlb_batch/migrate");
        ret->numa_balancing = exists(root, "/proc/sys/kernel/numa_balancing");
        return 0;
}
