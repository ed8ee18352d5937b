/* SPDX-License-Identifier: MPL-2.0 */
/* The control groups of jobs, on a tree of plain files instead of the kernel's. */
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
#include "worker/exec/beneath.h"
#include "worker/limits/cgroup.h"

struct fixture {
	char path[64];
	char *self;
	int folder;
	struct cgroup_place place;
};

static void put(struct fixture *fixture, const char *path, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(beneath_write(fixture->folder, path, 0600, text_bytes(text), &err), 0);
}

static void expect(struct fixture *fixture, const char *path, const char *text)
{
	_cleanup_(buf_release) struct buf got = BUF_INIT(1000);
	struct err err = ERR_INIT;

	assert_int_equal(beneath_read(fixture->folder, path, &got, &err), 0);
	assert_string_equal(buf_str(&got), text);
}

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-cgroup-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	fixture->folder = open(fixture->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fixture->self = mem_printf("%s/self", fixture->path);
	fixture->place = (struct cgroup_place){.root = fixture->path, .self = fixture->self};
	put(fixture, "self", "12:pids:/else\n0::/system.slice/w.service\n");
	put(fixture, "system.slice/w.service/cgroup.controllers", "cpu memory pids\n");
	put(fixture, "system.slice/w.service/cgroup.subtree_control", "");
	put(fixture, "system.slice/w.service/worker/cgroup.procs", "");
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	close(fixture->folder);
	beneath_remove(AT_FDCWD, fixture->path);
	free(fixture->self);
	free(fixture);
	return 0;
}

static void the_worker_moves_into_a_child_group(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *wanted = mem_printf("%s/system.slice/w.service", fixture->path);
	_cleanup_(freep) char *folder = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(mkdirat(fixture->folder, "system.slice/w.service/job-earlier", 0755), 0);
	folder = cgroup_open(&fixture->place, &err);
	assert_string_equal(folder, wanted);
	expect(fixture, "system.slice/w.service/worker/cgroup.procs", "0");
	expect(fixture, "system.slice/w.service/cgroup.subtree_control", "+memory +pids");
	assert_int_equal(faccessat(fixture->folder, "system.slice/w.service/job-earlier", F_OK, 0), -1);
}

/* A plain file in the group stands for processes, which keep the kernel from removing a group. */
static void a_group_in_use_is_killed_only_for_its_job(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *folder = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(mkdirat(fixture->folder, "system.slice/w.service/job-1", 0755), 0);
	put(fixture, "system.slice/w.service/job-1/cgroup.kill", "0");
	folder = cgroup_open(&fixture->place, &err);
	assert_non_null(folder);
	expect(fixture, "system.slice/w.service/job-1/cgroup.kill", "0");
	cgroup_end_earlier(folder, "2");
	cgroup_end_earlier(NULL, "1");
	cgroup_end_earlier(folder, "1");
	expect(fixture, "system.slice/w.service/job-1/cgroup.kill", "1");
}

static void check_unavailable(struct fixture *fixture, const char *word)
{
	struct err err = ERR_INIT;

	assert_null(cgroup_open(&fixture->place, &err));
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	assert_non_null(strstr(err.message, word));
}

static void a_group_without_both_controllers_is_not_used(void **state)
{
	static const char *const controllers[] = {"", "cpu memory\n", "pids\n", "memory.x pids\n", "xmemory pids\n"};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(controllers); i++) {
		put(fixture, "system.slice/w.service/cgroup.controllers", controllers[i]);
		check_unavailable(fixture, "are not delegated");
	}
}

static void a_group_that_is_not_delegated_is_not_used(void **state)
{
	struct fixture *fixture = *state;

	assert_int_equal(unlinkat(fixture->folder, "system.slice/w.service/cgroup.subtree_control", 0), 0);
	check_unavailable(fixture, "is not delegated to this worker");
	put(fixture, "self", "12:pids:/only-version-1\n");
	check_unavailable(fixture, "are not delegated");
	assert_int_equal(unlinkat(fixture->folder, "self", 0), 0);
	check_unavailable(fixture, "are not delegated");
	assert_false(cgroup_is_mounted(fixture->path));
}

static void a_job_gets_its_limits(void **state)
{
	const struct cgroup_limits limits = {.memory = 1 << 30, .processes = 100};
	struct fixture *fixture = *state;
	struct err err = ERR_INIT;
	char *path;

	put(fixture, "job-one/memory.max", "");
	put(fixture, "job-one/memory.swap.max", "");
	put(fixture, "job-one/pids.max", "");
	put(fixture, "job-one/cgroup.kill", "");
	path = cgroup_make(fixture->path, "one", &limits, &err);
	assert_non_null(path);
	expect(fixture, "job-one/memory.max", "1073741824");
	expect(fixture, "job-one/memory.swap.max", "0");
	expect(fixture, "job-one/pids.max", "100");
	cgroup_end(path);
	expect(fixture, "job-one/cgroup.kill", "1");
}

/* If the kernel rejects a limit, no group is created. */
static void a_limit_that_cant_be_set_is_an_error(void **state)
{
	const struct cgroup_limits limits = {.memory = 1 << 30};
	struct fixture *fixture = *state;
	struct err err = ERR_INIT;

	assert_null(cgroup_make(fixture->path, "two", &limits, &err));
	assert_non_null(strstr(err.message, "job-two"));
	assert_int_equal(faccessat(fixture->folder, "job-two", F_OK, 0), -1);
}

static void reached_limits_are_read_from_events(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *path = mem_printf("%s/job-one", fixture->path);

	assert_false(cgroup_met_memory(path));
	put(fixture, "job-one/memory.events", "low 0\nhigh 4\nmax 9\noom 2\noom_kill 0\noom_group_kill 7\n");
	put(fixture, "job-one/pids.events", "max 0\n");
	assert_false(cgroup_met_memory(path));
	assert_false(cgroup_met_processes(path));
	put(fixture, "job-one/memory.events", "low 0\noom 2\noom_kill 1\n");
	put(fixture, "job-one/pids.events", "max 3\n");
	assert_true(cgroup_met_memory(path));
	assert_false(cgroup_lacked_memory(path));
	assert_true(cgroup_met_processes(path));
}

/* The limit of a group above, or the machine's memory, was reached. */
static void a_kill_below_the_limit_is_not_the_groups(void **state)
{
	struct fixture *fixture = *state;
	_cleanup_(freep) char *path = mem_printf("%s/job-one", fixture->path);

	put(fixture, "job-one/memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\noom_group_kill 0\n");
	assert_false(cgroup_met_memory(path));
	assert_true(cgroup_lacked_memory(path));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_worker_moves_into_a_child_group),
		TEST(a_group_in_use_is_killed_only_for_its_job),
		TEST(a_group_without_both_controllers_is_not_used),
		TEST(a_group_that_is_not_delegated_is_not_used),
		TEST(a_job_gets_its_limits),
		TEST(a_limit_that_cant_be_set_is_an_error),
		TEST(reached_limits_are_read_from_events),
		TEST(a_kill_below_the_limit_is_not_the_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
