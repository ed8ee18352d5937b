/* SPDX-License-Identifier: MPL-2.0 */
/* Archives that a worker unpacks: no file may be created outside the folder, or be reachable through it. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "tests/fuzz/archive_input.h"
#include "worker/exec/beneath.h"
#include "worker/packages/archive.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct archive_spec specs[] = {
	{.bounds = {.files = 50, .bytes = 64 * 1024}},
	{.bounds = {.files = 50, .bytes = 64 * 1024}, .drop_bad_links = true},
};

static int top; /* contains the folder "in", and must never contain anything else */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("TMPDIR");
	_cleanup_(freep) char *path = mem_printf("%s/runyard-fuzz-XXXXXX", folder ? folder : "/tmp");

	(void)argc;
	(void)argv;
	if (!mkdtemp(path) || (top = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
		abort();
	return 0;
}

/* True if the folder contains only "in". */
static bool contains_only_in(void)
{
	int fd = openat(top, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fdopendir(fd);
	const struct dirent *entry;
	bool result = true;

	while ((entry = readdir(list)))
		result = result && (strchr("..", entry->d_name[0]) || text_equal(entry->d_name, "in"));
	closedir(list);
	return result;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(buf_release) struct buf archive = BUF_INIT(1 << 20);
	_cleanup_(closep) int fd = memfd_create("archive", MFD_CLOEXEC);
	struct err err = ERR_INIT;

	archive_input(bytes, len, &archive);
	write_fully(fd, archive.data, archive.len);
	for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
		_cleanup_(closep) int in = -1;

		if (mkdirat(top, "in", 0700) < 0 || (in = beneath_open(top, "in", O_RDONLY | O_DIRECTORY, 0)) < 0)
			abort();
		lseek(fd, 0, SEEK_SET);
		if (archive_unpack(fd, in, &specs[i], &err) < 0 && err.kind == ERR_NONE)
			abort();
		if (!contains_only_in() || beneath_remove(top, "in") < 0)
			abort();
	}
	return 0;
}
