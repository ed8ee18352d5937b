/* SPDX-License-Identifier: MPL-2.0 */
/* Archives of untrusted clients: valid ones are accepted, every path out of the folder is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <archive.h>
#include <archive_entry.h>
#include <cmocka.h>

#include "common/err.h"
#include "scheduler/api/workspaces/archive.h"

struct entry {
	const char *path;
	unsigned type;
	const char *target; /* of a symbolic link */
	const char *linked; /* of a hard link */
	const char *text;
};

enum { ROOM = 4 << 20, ATTRIBUTE_MAX = 256 << 10 };

struct packed {
	char bytes[ROOM];
	size_t len;
};

static void attribute_add(struct archive_entry *entry, size_t len)
{
	static const char zeros[ATTRIBUTE_MAX];

	if (len)
		archive_entry_xattr_add_entry(entry, "user.long", zeros, len);
}

/* Each entry gets an extended attribute of so many bytes. */
static void pack_with_attributes(struct packed *out, const struct entry *entries, size_t count, size_t attribute)
{
	struct archive *archive = archive_write_new();

	archive_write_set_format_pax_restricted(archive);
	archive_write_add_filter_gzip(archive);
	assert_int_equal(archive_write_open_memory(archive, out->bytes, sizeof(out->bytes), &out->len), ARCHIVE_OK);
	for (size_t i = 0; i < count; i++) {
		struct archive_entry *entry = archive_entry_new();
		size_t len = entries[i].text ? strlen(entries[i].text) : 0;

		archive_entry_set_pathname(entry, entries[i].path);
		archive_entry_set_filetype(entry, entries[i].type);
		archive_entry_set_perm(entry, 0644);
		archive_entry_set_size(entry, (la_int64_t)len);
		if (entries[i].target)
			archive_entry_set_symlink(entry, entries[i].target);
		if (entries[i].linked)
			archive_entry_set_hardlink(entry, entries[i].linked);
		attribute_add(entry, attribute);
		assert_true(archive_write_header(archive, entry) >= ARCHIVE_WARN);
		if (len)
			archive_write_data(archive, entries[i].text, len);
		archive_entry_free(entry);
	}
	assert_int_equal(archive_write_close(archive), ARCHIVE_OK);
	archive_write_free(archive);
}

static void pack(struct packed *out, const struct entry *entries, size_t count)
{
	pack_with_attributes(out, entries, count, 0);
}

static int check(const struct entry *entries, size_t count, struct err *err)
{
	static struct packed packed;

	pack(&packed, entries, count);
	return archive_check(packed.bytes, packed.len, err);
}

#define accepted(...)                                                                                                  \
	do {                                                                                                           \
		const struct entry entries[] = {__VA_ARGS__};                                                          \
		struct err err = ERR_INIT;                                                                             \
		if (check(entries, sizeof(entries) / sizeof(entries[0]), &err) != 0)                                   \
			fail_msg("refused: %s", err.message);                                                          \
	} while (0)

#define refused(why, ...)                                                                                              \
	do {                                                                                                           \
		const struct entry entries[] = {__VA_ARGS__};                                                          \
		struct err err = ERR_INIT;                                                                             \
		assert_int_equal(check(entries, sizeof(entries) / sizeof(entries[0]), &err), -1);                      \
		assert_int_equal(err.kind, ERR_INVALID);                                                               \
		if (!strstr(err.message, why))                                                                         \
			fail_msg("'%s' does not say '%s'", err.message, why);                                          \
	} while (0)

static void valid_archives_are_accepted(void **state)
{
	(void)state;
	accepted({"main.tf", AE_IFREG, NULL, NULL, "resource"});
	accepted({"./", AE_IFDIR, NULL, NULL, NULL}, {"./main.tf", AE_IFREG, NULL, NULL, "x"},
		{"modules/a..b/main.tf", AE_IFREG, NULL, NULL, "x"}, {"...", AE_IFREG, NULL, NULL, "x"});
	accepted({"a", AE_IFDIR, NULL, NULL, NULL}, {"a/b.tf", AE_IFREG, NULL, NULL, "x"},
		{"a/up.tf", AE_IFLNK, "../main.tf", NULL, NULL}, {"here.tf", AE_IFLNK, "a/b.tf", NULL, NULL},
		{"same.tf", AE_IFREG, NULL, "a/b.tf", NULL});
	accepted({"gr\xc3\xbc\xc3\x9f"
		  "e.tf",
		AE_IFREG, NULL, NULL, "x"});
}

static void paths_out_of_the_folder_are_refused(void **state)
{
	(void)state;
	refused("absolute", {"/etc/passwd", AE_IFREG, NULL, NULL, "x"});
	refused("leads out", {"../main.tf", AE_IFREG, NULL, NULL, "x"});
	refused("leads out", {"a/../../main.tf", AE_IFREG, NULL, NULL, "x"});
	refused("leads out", {"a/..", AE_IFDIR, NULL, NULL, NULL});
	refused("leads out", {"link", AE_IFLNK, "/etc", NULL, NULL});
	refused("leads out", {"link", AE_IFLNK, "..", NULL, NULL});
	refused("leads out", {"a/link", AE_IFLNK, "../../x", NULL, NULL});
	refused("leads out", {"./a/./link", AE_IFLNK, "../../x", NULL, NULL});
	refused("leads out", {"link", AE_IFLNK, "a/../../x", NULL, NULL});
	refused("leads out", {"link", AE_IFLNK, "", NULL, NULL});
	refused("leads out", {"a", AE_IFREG, NULL, NULL, "x"}, {"link", AE_IFREG, NULL, "../x", NULL});
	refused("leads out", {"a", AE_IFREG, NULL, NULL, "x"}, {"link", AE_IFREG, NULL, "/etc/passwd", NULL});
}

/* Two links that are harmless by themselves can lead out of the folder in combination. */
static void paths_through_links_are_refused(void **state)
{
	(void)state;
	refused("goes through a link", {"a", AE_IFLNK, "b", NULL, NULL}, {"a/x", AE_IFREG, NULL, NULL, "x"});
	refused("goes through a link", {"a/b", AE_IFLNK, "c", NULL, NULL}, {"a/b/c/x", AE_IFREG, NULL, NULL, "x"});
	accepted({"a/b/c", AE_IFLNK, "d", NULL, NULL}, {"a/b/x", AE_IFREG, NULL, NULL, "x"},
		{"a/b/c2/x", AE_IFREG, NULL, NULL, "x"}, {"a/c", AE_IFREG, NULL, NULL, "x"});
	refused("goes through a link", {"d/l", AE_IFLNK, "..", NULL, NULL}, {"d/l/m", AE_IFLNK, "..", NULL, NULL});
	refused("goes through a link", {"./d//l", AE_IFLNK, "..", NULL, NULL}, {"d/./l/m", AE_IFREG, NULL, NULL, "x"});
	refused("leads out", {"d/l", AE_IFLNK, "..", NULL, NULL}, {"m", AE_IFLNK, "d/l/..", NULL, NULL});
	refused("leads out", {"d/l", AE_IFLNK, "..", NULL, NULL}, {"m", AE_IFREG, NULL, "d/l/../x", NULL});
}

static void long_paths_are_refused(void **state)
{
	_cleanup_(freep) char *longest = mem_new(4097, 1), *longer = mem_new(4098, 1);

	(void)state;
	memset(longest, 'a', 4096);
	memset(longer, 'a', 4097);
	accepted({longest, AE_IFREG, NULL, NULL, "x"});
	refused("has a path that is too long", {longer, AE_IFREG, NULL, NULL, "x"});
	refused("is a link to a path that is too long", {"a", AE_IFREG, NULL, NULL, "x"},
		{"link", AE_IFREG, NULL, longer, NULL});
}

static void many_links_are_refused(void **state)
{
	enum { LINKS = 3000, DEPTH = 100 };
	struct entry *links = mem_new(LINKS, sizeof(*links));
	char **paths = mem_new(LINKS, sizeof(*paths));
	_cleanup_(freep) char *folders = mem_new(2 * DEPTH + 1, 1);
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < DEPTH; i++)
		memcpy(folders + 2 * i, "d/", 2);
	for (size_t i = 0; i < LINKS; i++) {
		paths[i] = mem_printf("%slink-%zu", folders, i);
		links[i] = (struct entry){paths[i], AE_IFLNK, "main.tf", NULL, NULL};
	}
	assert_int_equal(check(links, LINKS / 2, &err), 0);
	assert_int_equal(check(links, LINKS, &err), -1);
	assert_non_null(strstr(err.message, "is one link too many"));
	for (size_t i = 0; i < LINKS; i++)
		free(paths[i]);
	free(paths);
	free(links);
}

/* A tree of links keeps their names. */
static void links_with_long_names_are_refused(void **state)
{
	enum { LINKS = 16000, NAME = 4000 };
	struct entry *links = mem_new(LINKS, sizeof(*links));
	char *names = mem_new(LINKS, NAME + 1);
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < LINKS; i++) {
		char *name = names + i * (NAME + 1);

		memset(name, 'a', NAME);
		snprintf(name + NAME - 8, 9, "%08zu", i);
		links[i] = (struct entry){name, AE_IFLNK, "main.tf", NULL, NULL};
	}
	assert_int_equal(check(links, LINKS / 2, &err), 0);
	assert_int_equal(check(links, LINKS, &err), -1);
	assert_non_null(strstr(err.message, "is one link too many"));
	free(names);
	free(links);
}

/* Headers are unpacked, too, and none of their bytes belong to a file. */
static void large_attributes_count(void **state)
{
	static const struct archive_limits limits = {.entries = 100, .bytes = 4 << 20};
	static struct packed packed;
	struct entry entries[20];
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		entries[i] = (struct entry){"main.tf", AE_IFREG, NULL, NULL, NULL};
	pack_with_attributes(&packed, entries, 4, ATTRIBUTE_MAX);
	assert_int_equal(archive_check_within((struct bytes){packed.bytes, packed.len}, &limits, &err), 0);
	pack_with_attributes(&packed, entries, ARRAY_LEN(entries), ATTRIBUTE_MAX);
	assert_int_equal(archive_check_within((struct bytes){packed.bytes, packed.len}, &limits, &err), -1);
	assert_string_equal(err.message, "the archive has more than 4194304 bytes in it");
}

static void check_readme_in(const struct packed *packed, const char *folder, const char *expected)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(100);
	bool found;

	archive_file((struct bytes){packed->bytes, packed->len}, folder, "README.md", &text, &found);
	assert_int_equal(found, expected != NULL);
	assert_string_equal(buf_str(&text), text_or_empty(expected));
}

static void check_readme(const struct entry *entries, size_t count, const char *folder, const char *expected)
{
	static struct packed packed;

	pack(&packed, entries, count);
	check_readme_in(&packed, folder, expected);
}

static void a_file_is_found_in_the_folder_or_at_the_root(void **state)
{
	static const struct entry both[] = {{"./README.md", AE_IFREG, NULL, NULL, "root"},
		{"app/main.tf", AE_IFREG, NULL, NULL, "x"}, {"app/README.md", AE_IFREG, NULL, NULL, "app"}};

	(void)state;
	check_readme(both, 3, "app", "app");
	check_readme(both, 3, "./app/", "app");
	check_readme(both, 3, "other", "root");
	check_readme(both, 3, "", "root");
	check_readme(&both[1], 2, "app", "app");
	check_readme(&both[1], 2, "", NULL);
}

/* An unpacked archive may have a thousand times its size. */
static void a_file_behind_much_else_is_not_found(void **state)
{
	enum { PIECES = 13, PIECE = 5 << 20 };
	_cleanup_(freep) char *zeros = mem_new(PIECE + 1, 1);
	struct entry entries[PIECES + 1];

	(void)state;
	memset(zeros, '0', PIECE);
	for (size_t i = 0; i < PIECES; i++)
		entries[i] = (struct entry){"zeros", AE_IFREG, NULL, NULL, zeros};
	entries[PIECES] = (struct entry){"README.md", AE_IFREG, NULL, NULL, "late"};
	check_readme(&entries[1], PIECES, "", "late");
	check_readme(entries, PIECES + 1, "", NULL);
}

static void a_file_behind_many_attributes_is_not_found(void **state)
{
	enum { OTHERS = 130 };
	static struct packed packed;
	struct entry entries[OTHERS + 1];

	(void)state;
	for (size_t i = 0; i < OTHERS; i++)
		entries[i] = (struct entry){"main.tf", AE_IFREG, NULL, NULL, NULL};
	entries[OTHERS] = (struct entry){"README.md", AE_IFREG, NULL, NULL, "late"};
	pack_with_attributes(&packed, &entries[OTHERS / 2], OTHERS / 2 + 1, ATTRIBUTE_MAX);
	check_readme_in(&packed, "", "late");
	pack_with_attributes(&packed, entries, OTHERS + 1, ATTRIBUTE_MAX);
	check_readme_in(&packed, "", NULL);
}

static void devices_are_refused(void **state)
{
	(void)state;
	refused("no file, folder or link", {"null", AE_IFCHR, NULL, NULL, NULL});
	refused("no file, folder or link", {"disk", AE_IFBLK, NULL, NULL, NULL});
	refused("no file, folder or link", {"pipe", AE_IFIFO, NULL, NULL, NULL});
}

static void damaged_and_other_files_are_refused(void **state)
{
	static struct packed packed;
	const struct entry entry = {"main.tf", AE_IFREG, NULL, NULL, "resource \"terraform_data\" \"a\" {}"};
	static const char zip[] = "PK\x03\x04 and more";
	static const char noise[] = "\x1f\x8b this only begins like one";
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(archive_check("", 0, &err), -1);
	assert_int_equal(archive_check("\x1f", 1, &err), -1);
	assert_int_equal(archive_check(zip, sizeof(zip), &err), -1);
	assert_non_null(strstr(err.message, "no gzip'd tar"));
	assert_int_equal(archive_check(noise, sizeof(noise), &err), -1);
	pack(&packed, &entry, 1);
	for (size_t cut = 2; cut < packed.len - 8; cut += 7)
		if (archive_check(packed.bytes, cut, &err) == 0)
			fail_msg("%zu of %zu bytes passed", cut, packed.len);
}

/* Writes a ustar header: one file with any size. */
static void header_write(char header[512], const char *name, const char *octal_size)
{
	unsigned sum = 0;

	memset(header, 0, 512);
	snprintf(header, 100, "%s", name);
	snprintf(header + 100, 8, "%07o", 0644);
	snprintf(header + 124, 13, "%s", octal_size);
	snprintf(header + 136, 12, "%011o", 0);
	memset(header + 148, ' ', 8);
	header[156] = '0';
	snprintf(header + 257, 6, "ustar");
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
}

static void too_large_archives_are_refused(void **state)
{
	static struct packed packed;
	char header[512];
	struct archive *archive = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	struct err err = ERR_INIT;

	(void)state;
	header_write(header, "huge", "77777777777"); /* 8 GiB */
	archive_write_set_format_raw(archive);
	archive_write_add_filter_gzip(archive);
	archive_write_open_memory(archive, packed.bytes, sizeof(packed.bytes), &packed.len);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_write_header(archive, entry);
	archive_write_data(archive, header, sizeof(header));
	archive_write_close(archive);
	archive_entry_free(entry);
	archive_write_free(archive);
	assert_int_equal(archive_check(packed.bytes, packed.len, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.message, "more than 4294967296 bytes"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(valid_archives_are_accepted),
		cmocka_unit_test(paths_out_of_the_folder_are_refused),
		cmocka_unit_test(paths_through_links_are_refused),
		cmocka_unit_test(long_paths_are_refused),
		cmocka_unit_test(many_links_are_refused),
		cmocka_unit_test(links_with_long_names_are_refused),
		cmocka_unit_test(large_attributes_count),
		cmocka_unit_test(a_file_is_found_in_the_folder_or_at_the_root),
		cmocka_unit_test(a_file_behind_much_else_is_not_found),
		cmocka_unit_test(a_file_behind_many_attributes_is_not_found),
		cmocka_unit_test(devices_are_refused),
		cmocka_unit_test(damaged_and_other_files_are_refused),
		cmocka_unit_test(too_large_archives_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
