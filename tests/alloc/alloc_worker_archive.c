/* SPDX-License-Identifier: MPL-2.0 */
/*
 * libarchive calls exit if some of its allocations fail. That ends the process, which its supervisor starts again.
 * An archive that lacks something must be damaged, and no intact archive may be reported as damaged. The program
 * uses its working directory.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "tests/alloc/alloc.h"
#include "worker/exec/beneath.h"
#include "worker/packages/archive.h"

static const struct archive_bounds bounds = {.files = 100, .bytes = 1 << 20};
static const char *const names[] = {"main.tf", "folder", NULL};

/* Long names and link targets have headers of their own. */
#define TEN       "0123456789"
#define LONG_NAME TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
static const char long_path[] = "folder/" LONG_NAME "/" LONG_NAME;

static int create_folder(const char *name)
{
	int folder;

	beneath_remove(AT_FDCWD, name);
	HOLDS(mkdir(name, 0755) == 0);
	folder = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(folder >= 0);
	return folder;
}

static void check_file(int folder, const char *path, const char *text)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(1000);
	struct err err = ERR_INIT;

	HOLDS(beneath_read(folder, path, &bytes, &err) == 0);
	HOLDS(text_equal(buf_str(&bytes), text));
}

static void check_all(int folder)
{
	char target[300] = "";

	check_file(folder, "main.tf", "one");
	check_file(folder, long_path, "two");
	HOLDS(readlinkat(folder, "folder/link", target, sizeof(target) - 1) == (ssize_t)strlen(LONG_NAME));
	HOLDS(text_equal(target, LONG_NAME));
}

static int archive_fd;

static void create_source(void)
{
	int folder = create_folder("from");
	struct err err = ERR_INIT;

	HOLDS(beneath_write(folder, "main.tf", 0644, text_bytes("one"), &err) == 0);
	HOLDS(beneath_parents(folder, long_path) == 0);
	HOLDS(beneath_write(folder, long_path, 0644, text_bytes("two"), &err) == 0);
	HOLDS(symlinkat(LONG_NAME, folder, "folder/link") == 0);
	closep(&folder);
	archive_fd = memfd_create("archive", MFD_CLOEXEC);
}

static void pack(void)
{
	int from, into;
	struct err err = ERR_INIT;
	const struct archive_spec spec = {.bounds = bounds};

	alloc_prepare(create_source);
	from = open("from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (archive_pack(archive_fd, from, names, &bounds, &err) < 0) {
		HOLDS(err.kind == ERR_INTERNAL);
		return;
	}
	alloc_faults_end();
	into = create_folder("into");
	/* libarchive reports a few archives as complete that are not. Those must fail to unpack. */
	if (archive_unpack(archive_fd, into, &spec, &err) == 0)
		check_all(into);
	else
		HOLDS(err.kind == ERR_INVALID && strstr(err.message, "damaged"));
}

static void pack_source(void)
{
	struct err err = ERR_INIT;
	int from;

	create_source();
	from = open("from", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	HOLDS(archive_pack(archive_fd, from, names, &bounds, &err) == 0);
}

static void unpack(void)
{
	const struct archive_spec spec = {.bounds = bounds};
	struct err err = ERR_INIT;
	int into;

	alloc_prepare(pack_source);
	into = create_folder("into");
	if (archive_unpack(archive_fd, into, &spec, &err) == 0)
		check_all(into);
	else
		HOLDS(err.kind == ERR_INTERNAL);
}

const struct alloc_case alloc_cases[] = {
	{.name = "pack", .libraries = "libarchive", .run = pack, .ends_itself = true},
	{.name = "unpack", .libraries = "libarchive", .run = unpack, .ends_itself = true},
	{0},
};
