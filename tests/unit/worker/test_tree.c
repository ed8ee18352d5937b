/* SPDX-License-Identifier: MPL-2.0 */
/* Directory trees made by a job, of any depth and mode: measured and removed with few descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/exec/beneath.h"
#include "worker/exec/tree.h"
#include "worker/limits/measure.h"

enum { DEEP = 30000, FILE_BYTES = 1 << 20, DESCRIPTORS = 64, UNPRIVILEGED = 65534 };

static const int64_t unlimited = INT64_MAX;

struct fixture {
	char path[64];
	int folder;
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-tree-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->folder = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->folder);
	assert_int_equal(beneath_remove(AT_FDCWD, fixture->path), 0);
	assert_int_equal(access(fixture->path, F_OK), -1);
	free(fixture);
	return 0;
}

static void file_make(int folder, const char *name, size_t bytes)
{
	_cleanup_(freep) char *content = mem_new(1, bytes + 1);
	_cleanup_(closep) int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	memset(content, 'x', bytes);
	assert_int_equal(write_fully(fd, content, bytes), 0);
}

static void create_files(int folder, int count, size_t bytes)
{
	for (int i = 0; i < count; i++) {
		_cleanup_(freep) char *name = mem_printf("file.%d", i);

		file_make(folder, name, bytes);
	}
}

/* Creates that many nested folders. Returns the descriptor of the innermost. */
static int nest(int folder, int depth)
{
	int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);

	for (int i = 0; i < depth; i++) {
		int below;

		assert_int_equal(mkdirat(at, "d", 0755), 0);
		below = openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(below >= 0);
		close(at);
		at = below;
	}
	return at;
}

static void few_descriptors(void)
{
	const struct rlimit limit = {DESCRIPTORS, DESCRIPTORS};

	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		_exit(90);
}

/* Runs the function in a process with few descriptors. Returns its exit code. */
static int with_few_descriptors(int (*run)(const char *path), const char *path, uid_t user)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		few_descriptors();
		if (user && (setresgid(user, user, user) < 0 || setresuid(user, user, user) < 0))
			_exit(91);
		_exit(run(path));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int remove_folder(const char *path)
{
	return beneath_remove(AT_FDCWD, path) == 0 ? 0 : 1;
}

static void thirty_thousand_nested_folders_are_removed(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *top = mem_printf("%s/top", fixture->path);
	int last;

	assert_int_equal(mkdir(top, 0755), 0);
	last = openat(fixture->folder, "top", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file_make(last, "beside", 10);
	close(last);
	last = openat(fixture->folder, "top", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(nest(last, DEEP));
	close(last);
	assert_int_equal(with_few_descriptors(remove_folder, top, 0), 0);
	assert_int_equal(access(top, F_OK), -1);
}

static int check_deep_files(const char *path)
{
	_cleanup_(closep) int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return measure_folder(folder, unlimited) >= (int64_t)2 * FILE_BYTES ? 0 : 1;
}

/* Includes the siblings of a deep folder, which are read after the walk has returned to it. */
static void files_at_any_depth_are_measured(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(closep) int middle = nest(fixture->folder, 101);
	_cleanup_(closep) int last = nest(middle, 5000);

	file_make(last, "file", FILE_BYTES);
	create_files(middle, 64, FILE_BYTES / 64);
	assert_int_equal(with_few_descriptors(check_deep_files, fixture->path, 0), 0);
}

static void measuring_stops_above_the_limit(void **state)
{
	struct fixture *fixture = *state;

	create_files(fixture->folder, 100, 65536);
	assert_in_range(measure_folder(fixture->folder, FILE_BYTES), FILE_BYTES + 1, FILE_BYTES + 70000);
}

/* Empty files take inodes. */
static void empty_files_are_measured(void **state)
{
	struct fixture *fixture = *state;

	create_files(fixture->folder, 100, 0);
	assert_in_range(measure_folder(fixture->folder, unlimited), 100 * 512, 200 * 512);
}

static void links_are_not_followed(void **state)
{
	struct fixture *fixture = *state;
	struct stat info;
	int job;

	assert_int_equal(mkdirat(fixture->folder, "outside", 0700), 0);
	assert_int_equal(mkdirat(fixture->folder, "job", 0700), 0);
	job = openat(fixture->folder, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file_make(job, "file", FILE_BYTES);
	close(job);
	job = openat(fixture->folder, "job", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(symlinkat("../outside", job, "folder"), 0);
	assert_int_equal(symlinkat("../outside/file", job, "file"), 0);
	assert_int_equal(symlinkat("/", job, "root"), 0);
	assert_true(measure_folder(job, unlimited) < FILE_BYTES);
	close(job);
	assert_int_equal(beneath_remove(fixture->folder, "job"), 0);
	assert_int_equal(fstatat(fixture->folder, "outside/file", &info, 0), 0);
	assert_int_equal(info.st_size, FILE_BYTES);
}

/* A job can remove all permissions of its folders. These apply to users other than root. */
static void folders_without_permissions_are_measured_and_removed(void **state)
{
	static const mode_t modes[] = {0, 0100, 0400, 0500, 0600};
	struct fixture *fixture = *state;
	_cleanup_(freep) char *top = mem_printf("%s/top", fixture->path);
	int folder;

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(fixture->folder, "top", 0700), 0);
	assert_int_equal(chown(fixture->path, UNPRIVILEGED, UNPRIVILEGED), 0);
	folder = openat(fixture->folder, "top", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		_cleanup_(freep) char *name = mem_printf("mode.%zu", i);
		_cleanup_(closep) int below = -1;

		assert_int_equal(mkdirat(folder, name, 0700), 0);
		below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		file_make(below, "file", FILE_BYTES / 2);
		assert_int_equal(fchownat(below, "file", UNPRIVILEGED, UNPRIVILEGED, 0), 0);
		assert_int_equal(fchown(below, UNPRIVILEGED, UNPRIVILEGED), 0);
		assert_int_equal(fchmod(below, modes[i]), 0);
	}
	assert_int_equal(fchown(folder, UNPRIVILEGED, UNPRIVILEGED), 0);
	close(folder);
	assert_int_equal(with_few_descriptors(check_deep_files, top, UNPRIVILEGED), 0);
	assert_int_equal(with_few_descriptors(remove_folder, top, UNPRIVILEGED), 0);
	assert_int_equal(access(top, F_OK), -1);
}

struct mover {
	int folder;
	bool moved;
};

/* Moves the deepest folder away while the walk is in it. */
static enum tree_step move_away(void *data, int folder, const char *name)
{
	struct mover *mover = data;

	if (text_equal(name, "last")) {
		mover->moved = renameat(mover->folder, "here/last.parent", mover->folder, "elsewhere") == 0;
		return TREE_NEXT;
	}
	(void)folder;
	return TREE_ENTER;
}

static void a_walk_continues_after_a_folder_was_moved(void **state)
{
	struct fixture *fixture = *state;
	struct mover mover = {.folder = nest(fixture->folder, 40)};
	const struct tree_visit visit = {.entry = move_away, .data = &mover};
	int last;

	assert_int_equal(mkdirat(mover.folder, "here", 0700), 0);
	assert_int_equal(mkdirat(mover.folder, "here/last.parent", 0700), 0);
	last = openat(mover.folder, "here/last.parent", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	file_make(last, "last", 1);
	close(last);
	assert_int_equal(tree_walk(fixture->folder, ".", &visit), 0);
	assert_true(mover.moved);
	close(mover.folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(thirty_thousand_nested_folders_are_removed),
		TEST(files_at_any_depth_are_measured),
		TEST(measuring_stops_above_the_limit),
		TEST(empty_files_are_measured),
		TEST(links_are_not_followed),
		TEST(folders_without_permissions_are_measured_and_removed),
		TEST(a_walk_continues_after_a_folder_was_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
