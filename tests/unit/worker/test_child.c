/* SPDX-License-Identifier: MPL-2.0 */
/* Programs of a job: what they inherit, how they are stopped, and that no process is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/loop/loop.h"
#include "worker/exec/beneath.h"
#include "worker/exec/child.h"
#include "worker/exec/etc.h"
#include "worker/exec/sandbox.h"
#include "worker/keeper/proc_tree.h"

struct fixture {
	struct loop *loop;
	struct child *child;
	int status;
	enum keeper_why why;
	bool ended;
	int output; /* file in memory */
	char path[64];
	struct sandbox sandbox;
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));
	_cleanup_(freep) char *root = NULL;
	struct err err = ERR_INIT;

	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fixture->loop = loop_new();
	fixture->output = child_output();
	snprintf(fixture->path, sizeof(fixture->path), "/tmp/runyard-child-XXXXXX");
	assert_non_null(mkdtemp(fixture->path));
	assert_int_equal(etc_open(fixture->path, &fixture->sandbox.etc, &err), 0);
	root = mem_printf("%s/root", fixture->path);
	mkdir(root, 0700);
	fixture->sandbox.binds = "";
	fixture->sandbox.store = fixture->path;
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	loop_free(fixture->loop);
	sandbox_release(&fixture->sandbox);
	beneath_remove(AT_FDCWD, fixture->path);
	close(fixture->output);
	free(fixture);
	return 0;
}

static void ended(void *data, const struct keeper_report *report)
{
	struct fixture *fixture = data;

	fixture->status = report->status;
	fixture->why = report->why;
	fixture->ended = true;
	loop_stop(fixture->loop);
}

static void fail_timeout(void *data)
{
	(void)data;
	fail_msg("the child did not end");
}

static void wait_end(struct fixture *fixture)
{
	struct loop_timer timer = {.due_ms = 0};

	loop_timer_set(fixture->loop, &timer, 100000, fail_timeout, NULL);
	if (!fixture->ended)
		loop_run(fixture->loop);
	loop_timer_clear(fixture->loop, &timer);
}

static const char *output(struct fixture *fixture, char text[4096])
{
	ssize_t len = pread(fixture->output, text, 4095, 0);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void wait_output(struct fixture *fixture, const char *wanted)
{
	char text[4096];

	for (int i = 0; i < 20000 && !strstr(output(fixture, text), wanted); i++) {
		struct loop_timer timer = {.due_ms = 0};

		loop_timer_set(fixture->loop, &timer, 5, (loop_timer_fn)loop_stop, fixture->loop);
		loop_run(fixture->loop);
		loop_timer_clear(fixture->loop, &timer);
	}
	assert_non_null(strstr(text, wanted));
}

static void run_shell(struct fixture *fixture, const char *command)
{
	char *const argv[] = {"/bin/sh", "-c", (char *)command, NULL}, *const env[] = {"A=b", NULL};
	const struct child_spec spec = {.ended = ended,
		.data = fixture,
		.argv = argv,
		.env = env,
		.folder = "/",
		.fds = {-1, fixture->output, fixture->output, -1, -1}};
	struct err err = ERR_INIT;

	assert_int_equal(child_start(fixture->loop, &spec, &fixture->child, &err), 0);
}

/* The same in a sandbox. False if sandboxes are not possible here. */
static bool run_in_sandbox(struct fixture *fixture, const char *command)
{
	_cleanup_(freep) char *root = mem_printf("%s/root", fixture->path);
	_cleanup_(texts_release) struct texts args = {.items = NULL};
	_cleanup_(texts_release) struct texts env = {.items = NULL};
	_cleanup_(sandbox_start_release) struct sandbox_start start = SANDBOX_START_INIT;
	const struct sandbox_job job = {.root = root, .cli_config = "/dev/null", .engine = "/bin/sh"};
	const struct sandbox_command boxed = {.folder = "/job", .args = &args, .env = &env};
	struct child_spec spec = {.ended = ended, .data = fixture, .env = (char *[]){NULL}};
	struct err err = ERR_INIT;

	if (sandbox_open(&fixture->sandbox, true, &err) < 0)
		return false;
	texts_add(&args, "-c");
	texts_add(&args, "%s", command);
	texts_add(&env, "PATH=/usr/bin:/bin");
	texts_add(&env, "SECRET=hunter22");
	assert_int_equal(sandbox_prepare(&fixture->sandbox, &job, &boxed, &start, &err), 0);
	for (size_t i = 0; i < start.argv.count; i++)
		assert_null(strstr(start.argv.items[i], "hunter22"));
	spec.argv = start.argv.items;
	spec.folder = start.folder;
	memcpy(spec.fds, (int[]){-1, fixture->output, fixture->output, start.args_fd, start.second_fd},
		sizeof(spec.fds));
	assert_int_equal(child_start(fixture->loop, &spec, &fixture->child, &err), 0);
	return true;
}

static bool no_sleep_is_left(const char *mark)
{
	_cleanup_(freep) char *command =
		mem_printf("grep -alz -- '%s' /proc/[0-9]*/cmdline 2>/dev/null | grep -v /self | "
			   "while read f; do p=${f#/proc/}; p=${p%%/*}; [ \"$p\" = $$ ] || [ ! -s \"$f\" ] || "
			   "tr '\\000' ' ' <\"$f\"; done | grep -q '^sleep'",
			mark);

	return system(command) != 0;
}

static void a_program_inherits_only_the_given_environment_and_descriptors(void **state)
{
	struct fixture *fixture = *state;
	int leaked = dup2(fixture->output, 57);
	char text[4096];

	assert_int_equal(leaked, 57);
	run_shell(fixture, "echo $A; env | wc -l; ls /proc/self/fd | tr '\\n' ' '; exit 3");
	wait_end(fixture);
	close(leaked);
	assert_int_equal(WEXITSTATUS(fixture->status), 3);
	assert_string_equal(output(fixture, text), "b\n2\n0 1 2 3 ");
}

static void background_processes_are_killed_at_the_end_of_the_program(void **state)
{
	struct fixture *fixture = *state;

	run_shell(fixture, "sleep 86501 & exit 0");
	wait_end(fixture);
	assert_int_equal(WEXITSTATUS(fixture->status), 0);
	assert_true(no_sleep_is_left("86501"));
}

static void the_output_of_several_processes_is_complete(void **state)
{
	struct fixture *fixture = *state;

	run_shell(fixture,
		"for i in 1 2 3 4; do (n=0; while [ $n -lt 5000 ]; do echo line; n=$((n + 1)); done) & done; wait");
	wait_end(fixture);
	assert_int_equal(lseek(fixture->output, 0, SEEK_END), 4 * 5000 * strlen("line\n"));
}

static void an_interrupt_reaches_a_program_with_a_handler(void **state)
{
	struct fixture *fixture = *state;

	/* A shell that starts with SIGINT ignored can't trap it. terraform enables it again, and so does python
	 * here. */
	run_shell(fixture,
		"exec python3 -c \"import signal,sys\nsignal.signal(signal.SIGINT, lambda *a: sys.exit(7))\n"
		"print('ready', flush=True)\nsignal.pause()\"");
	wait_output(fixture, "ready");
	child_interrupt(fixture->child);
	wait_end(fixture);
	assert_int_equal(WEXITSTATUS(fixture->status), 7);
}

static void a_program_that_cant_be_started_is_an_error(void **state)
{
	struct fixture *fixture = *state;
	char *const argv[] = {"/nowhere/program", NULL}, *const env[] = {NULL};
	const struct child_spec spec = {
		.ended = ended, .data = fixture, .argv = argv, .env = env, .folder = "/", .fds = {-1, -1, -1, -1, -1}};
	struct err err = ERR_INIT;

	assert_int_equal(child_start(fixture->loop, &spec, &fixture->child, &err), -1);
	assert_int_equal(err.kind, ERR_INTERNAL);
}

static void a_sandbox_hides_the_host_and_is_read_only(void **state)
{
	struct fixture *fixture = *state;
	char text[4096];

	if (!run_in_sandbox(fixture,
		    "ls /; ls /root /home /var 2>&1 | wc -l; echo $SECRET; ls /proc/self/fd | tr '\\n' ' '; "
		    "touch /usr/x /etc/x /providers/x 2>/dev/null || echo read-only"))
		skip();
	wait_end(fixture);
	assert_int_equal(WEXITSTATUS(fixture->status), 0);
	output(fixture, text);
	assert_null(strstr(text, "root\n"));
	assert_null(strstr(text, "home\n"));
	assert_non_null(strstr(text, "hunter22\n0 1 2 3 "));
	assert_non_null(strstr(text, "read-only"));
}

static void no_process_survives_a_killed_sandbox(void **state)
{
	struct fixture *fixture = *state;

	if (!run_in_sandbox(fixture, "setsid sh -c 'setsid sleep 86502 & sleep 86502' & echo ready; sleep 86502"))
		skip();
	wait_output(fixture, "ready");
	child_kill(fixture->child);
	wait_end(fixture);
	assert_true(WIFSIGNALED(fixture->status));
	assert_true(no_sleep_is_left("86502"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void processes_of_a_sandbox_end_with_its_program(void **state)
{
	struct fixture *fixture = *state;

	if (!run_in_sandbox(fixture, "setsid sleep 86503 & exit 5"))
		skip();
	wait_end(fixture);
	assert_int_equal(WEXITSTATUS(fixture->status), 5);
	assert_true(no_sleep_is_left("86503"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void kill_child(void *data, pid_t pid)
{
	(void)data;
	kill(pid, SIGKILL);
}

static void a_killed_sandbox_leaves_no_process(void **state)
{
	struct fixture *fixture = *state;

	if (!run_in_sandbox(fixture, "setsid sleep 86504 & echo ready; sleep 86504"))
		skip();
	wait_output(fixture, "ready");
	proc_tree_children(getpid(), kill_child, NULL);
	wait_end(fixture);
	assert_true(WIFSIGNALED(fixture->status));
	assert_true(no_sleep_is_left("86504"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_program_inherits_only_the_given_environment_and_descriptors),
		TEST(background_processes_are_killed_at_the_end_of_the_program),
		TEST(the_output_of_several_processes_is_complete),
		TEST(an_interrupt_reaches_a_program_with_a_handler),
		TEST(a_program_that_cant_be_started_is_an_error),
		TEST(a_sandbox_hides_the_host_and_is_read_only),
		TEST(no_process_survives_a_killed_sandbox),
		TEST(processes_of_a_sandbox_end_with_its_program),
		TEST(a_killed_sandbox_leaves_no_process),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
