/* SPDX-License-Identifier: MPL-2.0 */
/* Hostile archives: all files must be unpacked inside the folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/packages/archive.h"

static const struct archive_spec plain = {.bounds = {.files = 100, .bytes = 1024 * 1024}};

struct entry {
	const char *path;
	mode_t type;
	const char *text; /* a file's content, or a link's target */
	bool hard;        /* `text` is the path of the file to which this is a hard link */
};

static void entry_write(struct archive *archive, const struct entry *from)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, from->path);
	archive_entry_set_filetype(entry, from->type);
	archive_entry_set_perm(entry, 04755);
	if (from->hard)
		archive_entry_set_hardlink(entry, from->text);
	else if (from->type == AE_IFLNK)
		archive_entry_set_symlink(entry, from->text);
	else if (from->type == AE_IFREG)
		archive_entry_set_size(entry, (la_int64_t)strlen(from->text));
	assert_int_equal(archive_write_header(archive, entry), ARCHIVE_OK);
	if (from->type == AE_IFREG && !from->hard)
		archive_write_data(archive, from->text, strlen(from->text));
	archive_entry_free(entry);
}

/* A tar.gz in memory. */
static int archive_of(const struct entry *entries, size_t count)
{
	int fd = memfd_create("archive", 0);
	struct archive *archive = archive_write_new();

	archive_write_add_filter_gzip(archive);
	archive_write_set_format_pax_restricted(archive);
	archive_write_open_fd(archive, fd);
	for (size_t i = 0; i < count; i++)
		entry_write(archive, &entries[i]);
	archive_write_free(archive);
	return fd;
}

static int folder_new(char path[64])
{
	snprintf(path, 64, "/tmp/runyard-archive-XXXXXX");
	assert_non_null(mkdtemp(path));
	return open(path, O_RDONLY | O_DIRECTORY);
}

static void folder_remove(int folder, const char *path)
{
	close(folder);
	assert_int_equal(beneath_remove(AT_FDCWD, path), 0);
}

/* Unpacks the entries into a new folder. *err has the reason for a refusal. */
static void unpack(const struct entry *entries, size_t count, const struct archive_spec *spec, struct err *err)
{
	char path[64];
	int folder = folder_new(path), fd = archive_of(entries, count);

	archive_unpack(fd, folder, spec, err);
	close(fd);
	folder_remove(folder, path);
}

static void a_valid_archive_is_unpacked(void **state)
{
	const struct entry entries[] = {
		{"./", AE_IFDIR, NULL, false},
		{"./modules/net/main.tf", AE_IFREG, "a", false},
		{"modules/link.tf", AE_IFLNK, "net/main.tf", false},
		{"up.tf", AE_IFREG, "b", false},
		{"modules/net/up.tf", AE_IFLNK, "../../up.tf", false},
		{"again.tf", AE_IFREG, "up.tf", true},
	};
	_cleanup_(buf_release) struct buf text = BUF_INIT(100);
	char path[64];
	int folder = folder_new(path), fd = archive_of(entries, ARRAY_LEN(entries));
	struct err err = ERR_INIT;
	struct stat info;

	(void)state;
	assert_int_equal(archive_unpack(fd, folder, &plain, &err), 0);
	assert_int_equal(beneath_read(folder, "again.tf", &text, &err), 0);
	assert_string_equal(buf_str(&text), "b");
	assert_int_equal(fstatat(folder, "modules/net/main.tf", &info, 0), 0);
	assert_int_equal(info.st_mode & 07777, 0755);
	assert_int_equal(fstatat(folder, "modules/net/up.tf", &info, 0), 0);
	close(fd);
	folder_remove(folder, path);
}

static void paths_out_of_the_folder_are_refused(void **state)
{
	static const struct entry lone[] = {
		{"../x", AE_IFREG, "x", false},
		{"a/../../x", AE_IFREG, "x", false},
		{"/etc/x", AE_IFREG, "x", false},
		{"..", AE_IFDIR, NULL, false},
		{"l", AE_IFLNK, "/etc/passwd", false},
		{"l", AE_IFLNK, "..", false},
		{"a/l", AE_IFLNK, "../../x", false},
		{"a/l", AE_IFLNK, "b/../..", false},
		{"p", AE_IFIFO, NULL, false},
		{"c", AE_IFCHR, NULL, false},
		{"h", AE_IFREG, "/etc/passwd", true},
		{"h", AE_IFREG, "../x", true},
		{"h", AE_IFREG, "nowhere", true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lone); i++) {
		struct err err = ERR_INIT;

		unpack(&lone[i], 1, &plain, &err);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

static void nothing_is_written_through_a_link(void **state)
{
	const struct entry entries[] = {
		{"d", AE_IFDIR, NULL, false},
		{"l", AE_IFLNK, "d", false},
		{"l/x", AE_IFREG, "x", false},
	};
	const struct entry deep[] = {
		{"a/b/l", AE_IFLNK, "../..", false},
		{"out", AE_IFLNK, "a/b/l/..", false},
	};
	struct err err = ERR_INIT;

	(void)state;
	unpack(entries, ARRAY_LEN(entries), &plain, &err);
	assert_int_equal(err.kind, ERR_INVALID);
	unpack(deep, ARRAY_LEN(deep), &plain, &err);
	assert_int_equal(err.kind, ERR_INVALID);
}

static void a_later_file_replaces_a_link_without_following_it(void **state)
{
	const struct entry entries[] = {
		{"x", AE_IFREG, "x", false},
		{"l", AE_IFLNK, "x", false},
		{"l", AE_IFREG, "new", false},
	};
	_cleanup_(buf_release) struct buf text = BUF_INIT(100);
	char path[64];
	int folder = folder_new(path), fd = archive_of(entries, ARRAY_LEN(entries));
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(archive_unpack(fd, folder, &plain, &err), 0);
	assert_int_equal(beneath_read(folder, "x", &text, &err), 0);
	assert_string_equal(buf_str(&text), "x");
	close(fd);
	folder_remove(folder, path);
}

static void too_many_files_or_bytes_are_refused(void **state)
{
	const struct entry entries[] = {{"a", AE_IFREG, "0123456789", false}, {"b", AE_IFREG, "0123456789", false}};
	const struct archive_spec few = {.bounds = {.files = 1, .bytes = 1000}};
	const struct archive_spec small = {.bounds = {.files = 10, .bytes = 15}};
	struct err err = ERR_INIT;

	(void)state;
	unpack(entries, 2, &few, &err);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
	unpack(entries, 2, &small, &err);
	assert_int_equal(err.kind, ERR_TOO_LARGE);
}

static void invalid_archives_are_refused(void **state)
{
	static const char *const contents[] = {"", "hello", "\x1f\x8b garbage"};
	char path[64];
	int folder = folder_new(path);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(contents); i++) {
		struct err err = ERR_INIT;
		int fd = memfd_create("archive", 0);

		assert_int_equal(write(fd, contents[i], strlen(contents[i])), (ssize_t)strlen(contents[i]));
		assert_int_equal(archive_unpack(fd, folder, &plain, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		close(fd);
	}
	folder_remove(folder, path);
}

static void links_are_packed_as_links(void **state)
{
	static const char *const names[] = {"absent", "d", NULL};
	char from_path[64], to_path[64], target[64] = "";
	int from = folder_new(from_path), to = folder_new(to_path), fd = memfd_create("archive", 0);
	const struct archive_spec lenient = {.bounds = plain.bounds, .drop_bad_links = true};
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(beneath_write(from, "d/file", 0644, text_bytes("x"), &err), 0);
	assert_int_equal(symlinkat("file", from, "d/near"), 0);
	assert_int_equal(symlinkat("/etc/passwd", from, "d/far"), 0);
	assert_int_equal(archive_pack(fd, from, names, &plain.bounds, &err), 0);
	assert_int_equal(archive_unpack(fd, to, &lenient, &err), 0);
	assert_int_equal(readlinkat(to, "d/near", target, sizeof(target)), 4);
	assert_int_equal(readlinkat(to, "d/far", target, sizeof(target)), -1);
	assert_int_equal(faccessat(to, "d/file", R_OK, 0), 0);
	close(fd);
	folder_remove(from, from_path);
	folder_remove(to, to_path);
}

static void results_are_not_read_through_links_or_from_pipes(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(1000);
	char path[64];
	int folder = folder_new(path);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(symlinkat("/etc/passwd", folder, "state"), 0);
	assert_int_equal(mkfifoat(folder, "plan", 0600), 0);
	assert_int_equal(symlinkat("/etc", folder, "out"), 0);
	assert_int_equal(beneath_read(folder, "state", &text, &err), -1);
	assert_int_equal(beneath_read(folder, "plan", &text, &err), -1);
	assert_int_equal(beneath_read(folder, "out/passwd", &text, &err), -1);
	assert_int_equal(beneath_write(folder, "out/x", 0600, text_bytes("x"), &err), -1);
	folder_remove(folder, path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_valid_archive_is_unpacked),
		cmocka_unit_test(paths_out_of_the_folder_are_refused),
		cmocka_unit_test(nothing_is_written_through_a_link),
		cmocka_unit_test(a_later_file_replaces_a_link_without_following_it),
		cmocka_unit_test(too_many_files_or_bytes_are_refused),
		cmocka_unit_test(invalid_archives_are_refused),
		cmocka_unit_test(links_are_packed_as_links),
		cmocka_unit_test(results_are_not_read_through_links_or_from_pipes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
