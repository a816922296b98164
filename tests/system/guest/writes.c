// SPDX-License-Identifier: GPL-2.0-only
/*
 * writes CASE refused|accepted FILE VALUE...
 *
 * Writes each value with one write(2), as a program would, and prints one line
 * of JSON for each. refused: the write must fail with EINVAL and the file must
 * read as before. accepted: the write must succeed and the file must then show
 * the value, by itself or in [brackets].
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void content_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

	if (n < 0) {
		fprintf(stderr, "writes: %s: %s\n", path, strerror(errno));
		exit(EXIT_FAILURE);
	}
	close(fd);
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
}

/* 0 or the errno of the write. */
static int value_write(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return errno;
	if (write(fd, value, strlen(value)) < 0)
		error = errno;
	close(fd);
	return error;
}

static bool shows(const char *text, const char *value)
{
	char bracketed[64];

	if (!strcmp(text, value))
		return true;
	snprintf(bracketed, sizeof(bracketed), "[%s]", value);
	return strstr(text, bracketed) != NULL;
}

int main(int argc, char **argv)
{
	bool refused, all_good = true;
	const char *path;

	if (argc < 5 || (strcmp(argv[2], "refused") && strcmp(argv[2], "accepted"))) {
		fprintf(stderr, "usage: writes CASE refused|accepted FILE VALUE...\n");
		return 2;
	}
	refused = !strcmp(argv[2], "refused");
	path = argv[3];
	for (int i = 4; i < argc; i++) {
		char before[256], after[256];
		bool good;
		int error;

		content_read(path, before, sizeof(before));
		error = value_write(path, argv[i]);
		content_read(path, after, sizeof(after));
		good = refused ? error == EINVAL && !strcmp(before, after) :
				 !error && shows(after, argv[i]);
		all_good &= good;
		/* Long values are many lines; their beginning names them. */
		printf("{\"case\":\"%s\",\"write\":\"%s\",\"file\":\"%s\",\"value\":\"%.*s\",\"error\":\"%s\",\"before\":\"%s\",\"after\":\"%s\",\"good\":%s}\n",
		       argv[1], argv[2], path, (int)strcspn(argv[i], "\n"), argv[i],
		       error ? strerrorname_np(error) : "", before, after, good ? "true" : "false");
	}
	return all_good ? EXIT_SUCCESS : EXIT_FAILURE;
}
