/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "restore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RECORD_SIZE_MAX 16384
#define BOOT_ID_LENGTH 36
#define HEADER "tlbd-restore 1\n"

/* FNV-1a, 64 bit: finds a damaged or cut record, it is no defence against a forged one (the
 * directory belongs to root). */
static uint64_t checksum(const char *data, size_t len)
{
        uint64_t hash = UINT64_C(0xcbf29ce484222325);

        for (size_t i = 0; i < len; i++)
                hash = (hash ^ (unsigned char)data[i]) * UINT64_C(0x100000001b3);
        return hash;
}

static int print_entry(FILE *f, const struct restore_entry *e)
{
        int r = fprintf(f, "%s %" PRIu64 " %" PRIu64, knob_name(e->id), e->original, e->ours);

        if (r >= 0 && e->has_previous)
                r = fprintf(f, " %" PRIu64, e->previous);
        return r < 0 || fputc('\n', f) == EOF ? -EIO : 0;
}

/* The text of a record without its checksum line. */
static int record_format(const char *boot_id, const struct restore_entry *e, size_t n, char **ret,
                         size_t *ret_len)
{
        FILE *f = open_memstream(ret, ret_len);
        int r;

        if (!f)
                return -errno;
        r = fprintf(f, HEADER "boot %s\n", boot_id) < 0 ? -EIO : 0;
        for (size_t i = 0; r == 0 && i < n; i++)
                r = print_entry(f, &e[i]);
        if (fclose(f) == EOF && r == 0)
                r = -ENOMEM;
        return r;
}

static int record_remove(const char *path)
{
        _cleanup_(freep) char *directory = strdup(path);
        _cleanup_(closep) int fd = -1;

        if (!directory)
                return -ENOMEM;
        if (unlink(path) < 0)
                return errno == ENOENT ? 0 : -errno;
        *strrchr(directory, '/') = '\0';
        fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 || fsync(fd) < 0)
                return -errno;
        return 0;
}

int restore_write(const char *path, const char *boot_id, const struct restore_entry *e, size_t n)
{
        _cleanup_(freep) char *body = NULL, *text = NULL;
        size_t len = 0;
        int r;

        if (n == 0)
                return record_remove(path);
        r = record_format(boot_id, e, n, &body, &len);
        if (r < 0)
                return r;
        text = strf("%schecksum %016" PRIx64 "\n", body, checksum(body, len));
        if (!text)
                return -ENOMEM;
        return file_write_atomic(path, text, strlen(text), 0600, true);
}

/* Takes the next blank-separated word off *p. */
static const char *next_word(char **p, size_t *ret_len)
{
        char *word = *p, *end = strchr(word, ' ');

        *ret_len = end ? (size_t)(end - word) : strlen(word);
        *p = word + *ret_len + (end ? 1 : 0);
        return word;
}

static int parse_knob(const char *word, size_t len, enum knob_id *ret)
{
        for (enum knob_id i = 0; i < KNOB_COUNT; i++) {
                const char *name = knob_name(i);

                if (strlen(name) == len && memcmp(name, word, len) == 0) {
                        *ret = i;
                        return 0;
                }
        }
        return -EBADMSG;
}

/* "Name original ours [previous]", exactly. */
static int parse_entry(char *line, struct restore_entry *ret)
{
        uint64_t number[3] = {0};
        size_t n = 0, len = strlen(line);
        const char *word;
        int r;

        if (line[len - 1] == ' ') /* strtok_r() gives no empty line */
                return -EBADMSG;
        word = next_word(&line, &len);
        r = parse_knob(word, len, &ret->id);
        if (r < 0)
                return r;
        while (*line && n < ELEMENTSOF(number)) {
                word = next_word(&line, &len);
                if (parse_u64(word, len, &number[n++]) < 0)
                        return -EBADMSG;
        }
        if (n < 2 || *line)
                return -EBADMSG;
        ret->original = number[0];
        ret->ours = number[1];
        ret->has_previous = n == 3;
        ret->previous = number[2];
        return 0;
}

/* Checks and cuts off the last line. */
static int verify_checksum(struct buffer *b)
{
        static const char word[] = "checksum ";
        char expected[32];
        char *last;

        if (b->len < 2 || memchr(b->data, '\0', b->len) || b->data[b->len - 1] != '\n')
                return -EBADMSG;
        last = memrchr(b->data, '\n', b->len - 1);
        if (!last)
                return -EBADMSG;
        last++;
        (void)snprintf(expected, sizeof(expected), "%s%016" PRIx64 "\n", word,
                       checksum(b->data, (size_t)(last - b->data)));
        if (strcmp(last, expected) != 0)
                return -EBADMSG;
        *last = '\0';
        return 0;
}

static int parse_record(char *text, const char *boot_id, struct restore_entry *ret, size_t *ret_n)
{
        char *save = NULL, *line;
        size_t n = 0;
        bool same_boot;

        if (strncmp(text, HEADER, strlen(HEADER)) != 0)
                return -EBADMSG;
        line = strtok_r(text + strlen(HEADER), "\n", &save);
        if (!line || strncmp(line, "boot ", 5) != 0 || strlen(line) != 5 + BOOT_ID_LENGTH)
                return -EBADMSG;
        same_boot = strcmp(line + 5, boot_id) == 0;
        while ((line = strtok_r(NULL, "\n", &save))) {
                if (n == KNOB_COUNT || parse_entry(line, &ret[n]) < 0)
                        return -EBADMSG;
                for (size_t i = 0; i < n; i++)
                        if (ret[i].id == ret[n].id)
                                return -EBADMSG;
                n++;
        }
        if (!same_boot)
                return -ESTALE;
        *ret_n = n;
        return 0;
}

int restore_read(const char *path, const char *boot_id, struct restore_entry ret[static KNOB_COUNT],
                 size_t *ret_n)
{
        _cleanup_(closep) int fd = -1;
        _cleanup_(buffer_done) struct buffer b = {0};
        struct restore_entry entry[KNOB_COUNT];
        struct stat st;
        size_t n = 0;
        int r;

        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return errno == ELOOP ? -EBADMSG : -errno;
        if (fstat(fd, &st) < 0)
                return -errno;
        if (!S_ISREG(st.st_mode) || st.st_size > RECORD_SIZE_MAX)
                return -EBADMSG;
        r = buffer_pread(&b, fd);
        if (r < 0)
                return r;
        r = verify_checksum(&b);
        if (r < 0)
                return r;
        r = parse_record(b.data, boot_id, entry, &n);
        if (r < 0)
                return r;
        memcpy(ret, entry, n * sizeof(entry[0]));
        *ret_n = n;
        return 0;
}

int boot_id_read(const char *root, char ret[static 37])
{
        _cleanup_(freep) char *path = path_join(root, "/proc/sys/kernel/random/boot_id");
        _cleanup_(buffer_done) struct buffer b = {0};
        int r;

        if (!path)
                return -ENOMEM;
        memset(ret, '0', BOOT_ID_LENGTH);
        ret[BOOT_ID_LENGTH] = '\0';
        r = buffer_read_path(&b, path);
        if (r == -ENOENT && root && root[0] != '\0')
                return 0;
        if (r < 0)
                return r;
        if (b.len < BOOT_ID_LENGTH ||
            b.data[BOOT_ID_LENGTH + strspn(b.data + BOOT_ID_LENGTH, "\n")])
                return -EBADMSG;
        for (size_t i = 0; i < BOOT_ID_LENGTH; i++)
                if (!strchr("0123456789abcdef-", b.data[i]) || b.data[i] == '\0')
                        return -EBADMSG;
        memcpy(ret, b.data, BOOT_ID_LENGTH);
        return 0;
}
