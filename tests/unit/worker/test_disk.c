/* SPDX-License-Identifier: MPL-2.0 */
/* Detection of a low disk, and the space that is reserved for the last state of an apply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/runtime/disk.h"
#include "worker/upload/leftover.h"
#include "worker/upload/reserve.h"

static void a_disk_is_low_until_a_quarter_above_its_limit(void **state)
{
	static const struct disk_space limit = {.bytes = 1000, .inodes = 100};
	static const struct {
		struct disk_space available;
		bool was_low, low;
	} cases[] = {
		{{1000, 100}, false, false},
		{{999, 100}, false, true},
		{{1000, 99}, false, true},
		{{0, 0}, false, true},
		{{1249, 1000}, true, true},
		{{1250, 125}, true, false},
		{{5000, 124}, true, true},
		{{5000, INT64_MAX}, true, false},
		{{999, INT64_MAX}, false, true},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(disk_is_low(&cases[i].available, &limit, cases[i].was_low), cases[i].low);
}

static void a_disk_without_limits_is_never_low(void **state)
{
	static const struct disk_space none = {0, 0};

	(void)state;
	assert_false(disk_is_low(&none, &none, false));
	assert_false(disk_is_low(&none, &none, true));
}

/* A job's folder with a working directory. */
static struct workdir make_folder(char path[64])
{
	struct workdir dir = WORKDIR_INIT;
	struct err err = ERR_INIT;

	snprintf(path, 64, "/tmp/runyard-reserve-XXXXXX");
	assert_non_null(mkdtemp(path));
	dir.top = open(path, O_RDONLY | O_DIRECTORY);
	assert_int_equal(beneath_mkdirs(dir.top, "root/config/in"), 0);
	dir.root = beneath_open(dir.top, "root", O_RDONLY | O_DIRECTORY, 0);
	assert_int_equal(beneath_write(dir.root, WORKDIR_STATE, 0600, text_bytes("{}"), &err), 0);
	return dir;
}

static void check_reserved(const struct workdir *dir, const char *path, long long limit, long long max)
{
	struct stat info;

	assert_int_equal(fstatat(dir->top, path, &info, 0), 0);
	assert_int_equal(info.st_size, 0);
	assert_true((long long)info.st_blocks * 512 >= limit && (long long)info.st_blocks * 512 <= max);
}

static void space_is_allocated_beyond_the_end_of_empty_files(void **state)
{
	char path[64];
	struct workdir dir = make_folder(path);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(reserve_name(&dir, "config/in", &err), 0);
	assert_int_equal(reserve_allocate(&dir, "config/in", 0, &err), 0);
	check_reserved(&dir, "root/config/in/" LEFTOVER_ERRORED, RESERVE_LEAST, RESERVE_LEAST + 65536);
	check_reserved(&dir, LEFTOVER_PART, RESERVE_LEAST, RESERVE_LEAST + 65536);
	leftover_errored(dir.top, "config/in"); /* an empty one does not count */
	assert_int_equal(faccessat(dir.top, LEFTOVER_ERRORED, F_OK, 0), -1);
	workdir_release(&dir);
	assert_int_equal(beneath_remove(AT_FDCWD, path), 0);
}

static void less_space_is_allocated_for_a_small_disk_limit(void **state)
{
	char path[64];
	struct workdir dir = make_folder(path);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(reserve_name(&dir, "config/in", &err), 0);
	assert_int_equal(reserve_allocate(&dir, "config/in", 8 << 20, &err), 0);
	check_reserved(&dir, LEFTOVER_PART, 1 << 20, (1 << 20) + 65536);
	workdir_release(&dir);
	assert_int_equal(beneath_remove(AT_FDCWD, path), 0);
}

/* A job may have replaced the file. */
static void a_pipe_or_a_link_is_not_written_to(void **state)
{
	char path[64];
	struct workdir dir = make_folder(path);
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(mkfifoat(dir.root, "config/in/" LEFTOVER_ERRORED, 0600), 0);
	assert_int_equal(reserve_allocate(&dir, "config/in", 0, &err), -1);
	assert_int_equal(unlinkat(dir.root, "config/in/" LEFTOVER_ERRORED, 0), 0);
	assert_int_equal(symlinkat("../../state/terraform.tfstate", dir.root, "config/in/" LEFTOVER_ERRORED), 0);
	assert_int_equal(reserve_allocate(&dir, "config/in", 0, &err), -1);
	workdir_release(&dir);
	assert_int_equal(beneath_remove(AT_FDCWD, path), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_disk_is_low_until_a_quarter_above_its_limit),
		cmocka_unit_test(a_disk_without_limits_is_never_low),
		cmocka_unit_test(space_is_allocated_beyond_the_end_of_empty_files),
		cmocka_unit_test(less_space_is_allocated_for_a_small_disk_limit),
		cmocka_unit_test(a_pipe_or_a_link_is_not_written_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
