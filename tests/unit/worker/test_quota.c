/* SPDX-License-Identifier: MPL-2.0 */
/* Project quotas of jobs. The test replaces the kernel's calls, so the filesystem need not support quotas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/exec/workdir.h"
#include "worker/limits/quota.h"

enum { MAX_FILES = 2 * QUOTA_IDS, BLOCK = 4096 };

static const int64_t limit = 50 << 20;

/* The fake filesystem's project quotas. */
static struct {
	struct dqblk projects[QUOTA_IDS];
	uint32_t first;
	uint32_t set_at; /* the project whose limits fail to be set, or 0 */
	int quota_errno; /* of every quota call */
	bool enforced;
	struct {
		ino_t inode;
		struct fsxattr attributes;
	} files[MAX_FILES];
	size_t count;
} disk;

static struct fsxattr *attributes_of(int fd)
{
	struct stat info;

	assert_int_equal(fstat(fd, &info), 0);
	for (size_t i = 0; i < disk.count; i++)
		if (disk.files[i].inode == info.st_ino)
			return &disk.files[i].attributes;
	assert_true(disk.count < MAX_FILES);
	memset(&disk.files[disk.count], 0, sizeof(disk.files[0]));
	disk.files[disk.count].inode = info.st_ino;
	return &disk.files[disk.count++].attributes;
}

static int fail_with(int number)
{
	errno = number;
	return -1;
}

static int disk_quota(int fd, int command, uint32_t id, struct dqblk *limits)
{
	uint32_t at = id - disk.first;

	(void)fd;
	assert_true(at < QUOTA_IDS);
	if (disk.quota_errno)
		return fail_with(disk.quota_errno);
	if (command == Q_SETQUOTA && id == disk.set_at)
		return fail_with(EPERM);
	if (command == Q_SETQUOTA)
		disk.projects[at] = *limits;
	else if (!disk.projects[at].dqb_bhardlimit && !disk.projects[at].dqb_curspace &&
		!disk.projects[at].dqb_bsoftlimit)
		return fail_with(ENOENT);
	else
		*limits = disk.projects[at];
	return 0;
}

static int disk_attributes(int fd, unsigned long request, struct fsxattr *attributes)
{
	if (request == FS_IOC_FSGETXATTR)
		*attributes = *attributes_of(fd);
	else
		*attributes_of(fd) = *attributes;
	return 0;
}

static int disk_space(int fd, struct statfs *ret_space)
{
	uint32_t at = attributes_of(fd)->fsx_projid - disk.first;
	int64_t bytes = disk.enforced && at < QUOTA_IDS ? (int64_t)disk.projects[at].dqb_bhardlimit * 1024 : 0;

	*ret_space = (struct statfs){.f_bsize = BLOCK, .f_blocks = bytes ? (uint64_t)bytes / BLOCK : 1 << 20};
	return 0;
}

static const struct quota_kernel kernel = {.quota = disk_quota, .attributes = disk_attributes, .space = disk_space};

struct fixture {
	char path[64];
	struct quota quota;
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));
	_cleanup_(freep) char *jobs = NULL;
	struct stat info;

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-quota-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	jobs = mem_printf("%s/jobs", fixture->path);
	assert_int_equal(mkdir(jobs, 0700), 0);
	assert_int_equal(stat(fixture->path, &info), 0);
	fixture->quota.kernel = &kernel;
	fixture->quota.jobs = open(jobs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memset(&disk, 0, sizeof(disk));
	disk.first = quota_first(info.st_ino);
	disk.enforced = true;
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->quota.jobs);
	beneath_remove(AT_FDCWD, fixture->path);
	free(fixture);
	return 0;
}

static void check_refused(struct fixture *fixture, const char *words)
{
	struct err err = ERR_INIT;

	assert_int_equal(quota_set(&kernel, fixture->path, limit, &err), -1);
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.message, words));
}

static void set_limits(struct fixture *fixture)
{
	struct err err = ERR_INIT;

	assert_int_equal(quota_set(&kernel, fixture->path, limit, &err), 0);
}

static int open_with(struct fixture *fixture, const char *words)
{
	struct err err = ERR_INIT;
	int status = quota_open(&fixture->quota, fixture->path, limit, &err);

	disk.count = 0; /* its folder is deleted, and the inode number may be reused */
	assert_int_equal(faccessat(fixture->quota.jobs, ".quota", F_OK, 0), -1);
	if (status < 0)
		assert_non_null(strstr(err.message, words));
	return status;
}

static void data_folders_have_different_projects(void **state)
{
	(void)state;
	assert_int_equal(quota_first(0), 1U << 30);
	assert_int_equal(quota_first(5) - quota_first(4), QUOTA_IDS);
	assert_int_equal(quota_first(1U << 18), quota_first(0));
	assert_true(quota_first((1U << 18) - 1) <= UINT32_MAX - QUOTA_IDS);
}

static void every_project_gets_the_limits(void **state)
{
	set_limits(*state);
	for (size_t i = 0; i < QUOTA_IDS; i++) {
		assert_int_equal(disk.projects[i].dqb_bhardlimit, limit / 1024);
		assert_int_equal(disk.projects[i].dqb_ihardlimit, limit / 512);
		assert_int_equal(disk.projects[i].dqb_valid, QIF_LIMITS);
	}
	assert_int_equal(open_with(*state, ""), 0);
}

static void the_next_start_sets_the_limits_again(void **state)
{
	set_limits(*state);
	disk.projects[3].dqb_bhardlimit = 7;
	disk.projects[3].dqb_curspace = 4096;
	disk.projects[3].dqb_curinodes = 1;
	set_limits(*state);
	assert_int_equal(disk.projects[3].dqb_bhardlimit, limit / 1024);
}

static void projects_of_other_programs_are_not_changed(void **state)
{
	disk.projects[QUOTA_IDS - 1].dqb_curspace = 4096;
	check_refused(*state, "another program uses project");
	assert_int_equal(disk.projects[0].dqb_bhardlimit, 0);
	disk.projects[QUOTA_IDS - 1] = (struct dqblk){.dqb_bsoftlimit = 10, .dqb_bhardlimit = 20};
	check_refused(*state, "another program uses project");
	assert_int_equal(disk.projects[0].dqb_bhardlimit, 0);
	assert_int_equal(open_with(*state, "has no limit"), -1);
}

static void a_file_system_without_project_quotas_is_refused(void **state)
{
	disk.quota_errno = ESRCH;
	check_refused(*state, "no project quota");
	assert_int_equal(open_with(*state, "has no limit"), -1);
}

/* Then the first project has no limit, which the worker detects. */
static void limits_that_are_set_partly_are_refused(void **state)
{
	disk.set_at = disk.first + 5;
	check_refused(*state, "can't be set");
	assert_int_equal(open_with(*state, "has no limit"), -1);
}

static void a_limit_that_is_not_enforced_or_differs_is_refused(void **state)
{
	set_limits(*state);
	disk.enforced = false;
	assert_int_equal(open_with(*state, "does not enforce it"), -1);
	disk.enforced = true;
	disk.projects[0].dqb_bhardlimit += 4;
	assert_int_equal(open_with(*state, "has no limit"), -1);
}

static void a_project_of_the_operator_is_not_changed(void **state)
{
	struct fixture *fixture = *state;

	set_limits(fixture);
	attributes_of(fixture->quota.jobs)->fsx_projid = 7;
	assert_int_equal(open_with(fixture, "belongs to a project already"), -1);
}

static void expect_project(int top, const char *path, uint32_t id, bool inherited)
{
	_cleanup_(closep) int fd = beneath_open(top, path, O_RDONLY | O_DIRECTORY, 0);
	const struct fsxattr *attributes = attributes_of(fd);

	assert_int_equal(attributes->fsx_projid, id);
	assert_int_equal(attributes->fsx_xflags & FS_XFLAG_PROJINHERIT, inherited ? FS_XFLAG_PROJINHERIT : 0);
}

static int make(struct fixture *fixture, const char *job, struct workdir *ret_dir, struct err *err)
{
	const struct workdir_place place = {
		.jobs = fixture->quota.jobs, .path = fixture->path, .quota = &fixture->quota};
	_cleanup_(freep) char *name = mem_text(job);
	const struct assignment assignment = {.job = name, .attempt = 1};

	return workdir_make(&place, &assignment, ret_dir, err);
}

/* Inode numbers are reused when a folder is deleted, so the test's records of it must go too. */
static void remove_job(struct fixture *fixture, struct workdir *dir)
{
	static const char *const folders[] = {"root", "root/state"};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		_cleanup_(closep) int fd = beneath_open(dir->top, folders[i], O_RDONLY | O_DIRECTORY, 0);

		*attributes_of(fd) = (struct fsxattr){0};
	}
	*attributes_of(dir->top) = (struct fsxattr){0};
	assert_int_equal(beneath_remove(fixture->quota.jobs, dir->name), 0);
	workdir_release(dir);
}

static void every_job_has_its_own_projects(void **state)
{
	struct fixture *fixture = *state;
	struct workdir one = WORKDIR_INIT, two = WORKDIR_INIT, three = WORKDIR_INIT;
	struct err err = ERR_INIT;

	set_limits(fixture);
	assert_int_equal(open_with(fixture, ""), 0);
	assert_int_equal(make(fixture, "one", &one, &err), 0);
	assert_int_equal(make(fixture, "two", &two, &err), 0);
	expect_project(one.top, ".", disk.first, false);
	expect_project(one.top, "root", disk.first, true);
	expect_project(one.top, "root/state", disk.first + 1, true);
	expect_project(two.top, "root", disk.first + 2, true);
	expect_project(two.top, "root/state", disk.first + 3, true);
	remove_job(fixture, &one);
	assert_int_equal(make(fixture, "three", &three, &err), 0);
	expect_project(three.top, "root", disk.first, true);
	remove_job(fixture, &two);
	remove_job(fixture, &three);
}

static void no_project_is_shared_when_all_are_in_use(void **state)
{
	struct fixture *fixture = *state;
	struct err err = ERR_INIT;
	struct workdir dir = WORKDIR_INIT;
	const uint32_t free_id = disk.first + 500;

	set_limits(fixture);
	assert_int_equal(open_with(fixture, ""), 0);
	for (uint32_t id = disk.first; id < disk.first + QUOTA_IDS; id += 2) {
		_cleanup_(freep) char *name = mem_printf("job-%u", id);
		_cleanup_(closep) int fd = -1;

		assert_int_equal(mkdirat(fixture->quota.jobs, name, 0700), 0);
		fd = beneath_open(fixture->quota.jobs, name, O_RDONLY | O_DIRECTORY, 0);
		attributes_of(fd)->fsx_projid = id == free_id ? 0 : id;
	}
	assert_int_equal(make(fixture, "last", &dir, &err), 0);
	expect_project(dir.top, "root", free_id, true);
	workdir_release(&dir);
	assert_int_equal(make(fixture, "more", &dir, &err), -1);
	assert_non_null(strstr(err.message, "in use"));
}

static void a_file_that_leaves_a_job_leaves_its_project(void **state)
{
	struct fixture *fixture = *state;
	struct err err = ERR_INIT;
	_cleanup_(closep) int file = -1;

	assert_int_equal(beneath_write(fixture->quota.jobs, "state", 0600, text_bytes("x"), &err), 0);
	file = beneath_open(fixture->quota.jobs, "state", O_RDONLY, 0);
	attributes_of(file)->fsx_projid = disk.first;
	quota_follow(&kernel, file, fixture->quota.jobs);
	assert_int_equal(attributes_of(file)->fsx_projid, 0);
	attributes_of(fixture->quota.jobs)->fsx_projid = 7;
	quota_follow(&kernel, file, fixture->quota.jobs);
	assert_int_equal(attributes_of(file)->fsx_projid, 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(data_folders_have_different_projects),
		TEST(every_project_gets_the_limits),
		TEST(the_next_start_sets_the_limits_again),
		TEST(projects_of_other_programs_are_not_changed),
		TEST(a_file_system_without_project_quotas_is_refused),
		TEST(limits_that_are_set_partly_are_refused),
		TEST(a_limit_that_is_not_enforced_or_differs_is_refused),
		TEST(a_project_of_the_operator_is_not_changed),
		TEST(every_job_has_its_own_projects),
		TEST(no_project_is_shared_when_all_are_in_use),
		TEST(a_file_that_leaves_a_job_leaves_its_project),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
