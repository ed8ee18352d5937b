/* SPDX-License-Identifier: MPL-2.0 */
/* The keeper between a worker and a program: leases and limits hold, and no process is left, whichever process is
 * killed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/loop/loop.h"
#include "common/process.h"
#include "worker/exec/child.h"
#include "worker/exec/program.h"
#include "worker/keeper/proc_tree.h"

/* A python program that prints when it is ready, and exits with 7 on an interrupt. */
#define HANDLES_INTERRUPT                                                                                              \
	"exec python3 -c \"import signal,sys\nsignal.signal(signal.SIGINT, lambda *a: sys.exit(7))\n"                  \
	"print('ready', flush=True)\nsignal.pause()\""
#define IGNORES_INTERRUPT                                                                                              \
	"exec python3 -c \"import signal\nsignal.signal(signal.SIGINT, lambda *a: print('interrupted', "               \
	"flush=True))\nprint('ready', flush=True)\nwhile True: signal.pause()\""
/* Nested sessions whose parents have exited. */
#define ESCAPES "setsid sh -c 'setsid sh -c \"setsid sleep 3600 & sleep 3600\" & exit' & echo ready; sleep 3600"

struct fixture {
	struct loop *loop;
	struct child *child;
	struct keeper_report report;
	bool ended;
	int output; /* file in memory */
	int input;  /* of the program, or -1 */
};

static int fixture_make(void **state)
{
	struct fixture *fixture = mem_new(1, sizeof(*fixture));

	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	fixture->loop = loop_new();
	fixture->output = child_output();
	fixture->input = -1;
	*state = fixture;
	return 0;
}

static int fixture_end(void **state)
{
	struct fixture *fixture = *state;

	if (!fixture->ended)
		child_abandon(fixture->child);
	loop_free(fixture->loop);
	close(fixture->output);
	free(fixture);
	return 0;
}

static void ended(void *data, const struct keeper_report *report)
{
	struct fixture *fixture = data;

	fixture->report = *report;
	fixture->ended = true;
	loop_stop(fixture->loop);
}

static void start_kept(struct fixture *fixture, const char *command, const struct keeper_terms *terms,
	const struct child_kept *kept, int output)
{
	char *const argv[] = {"/bin/sh", "-c", (char *)command, NULL}, *const env[] = {"PATH=/usr/bin:/bin", NULL};
	const struct child_spec spec = {.ended = ended,
		.data = fixture,
		.argv = argv,
		.env = env,
		.folder = "/",
		.fds = {fixture->input, output, output, -1, -1},
		.kept = kept,
		.terms = *terms};
	struct err err = ERR_INIT;

	assert_int_equal(child_start(fixture->loop, &spec, &fixture->child, &err), 0);
}

static void start(struct fixture *fixture, const char *command, const struct keeper_terms *terms)
{
	start_kept(fixture, command, terms, NULL, fixture->output);
}

static void fail_timeout(void *data)
{
	(void)data;
	fail_msg("it did not end");
}

static void wait_end(struct fixture *fixture)
{
	struct loop_timer timer = {.due_ms = 0};

	loop_timer_set(fixture->loop, &timer, 100000, fail_timeout, NULL);
	if (!fixture->ended)
		loop_run(fixture->loop);
	loop_timer_clear(fixture->loop, &timer);
	assert_int_equal(proc_tree_use(getpid(), 0).processes, 0);
}

static const char *output_text(const struct fixture *fixture)
{
	static char text[4096];
	ssize_t len = pread(fixture->output, text, sizeof(text) - 1, 0);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void wait_output(const struct fixture *fixture, const char *wanted)
{
	for (int i = 0; i < 20000 && !strstr(output_text(fixture), wanted); i++)
		poll(NULL, 0, 5);
	if (!strstr(output_text(fixture), wanted))
		fail_msg("the output lacks \"%s\": %s", wanted, output_text(fixture));
}

static void wait_processes(int64_t wanted)
{
	for (int i = 0; i < 20000 && proc_tree_use(getpid(), 0).processes != wanted; i++)
		poll(NULL, 0, 5);
	assert_int_equal(proc_tree_use(getpid(), 0).processes, wanted);
}

static struct keeper_lease lease_of(int64_t interrupt_ms, int64_t kill_ms)
{
	int64_t now = clock_boot_ms();

	return (struct keeper_lease){.interrupt_ms = now + interrupt_ms, .kill_ms = now + kill_ms};
}

/* ---- cleanup ---- */

static void processes_in_other_sessions_are_killed(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, ESCAPES, &(struct keeper_terms){.in_order = true});
	wait_output(fixture, "ready");
	wait_processes(6); /* the keeper, the shell and its sleep; a shell with two more */
	child_kill(fixture->child);
	wait_end(fixture);
	assert_int_equal(WTERMSIG(fixture->report.status), SIGKILL);
	assert_int_equal(fixture->report.why, KEEPER_ENDED);
}

static void processes_in_other_sessions_end_with_the_program(void **state)
{
	struct fixture *fixture = *state;

	start(fixture, "setsid sh -c 'setsid sleep 3600 & sleep 3600' & exit 5",
		&(struct keeper_terms){.in_order = true});
	wait_end(fixture);
	assert_int_equal(WEXITSTATUS(fixture->report.status), 5);
}

static void first_child(void *data, pid_t pid)
{
	*(pid_t *)data = pid;
}

static void no_process_is_left_if_the_keeper_is_killed(void **state)
{
	struct fixture *fixture = *state;
	pid_t keeper = 0;

	start(fixture, ESCAPES, &(struct keeper_terms){.in_order = true});
	wait_output(fixture, "ready");
	wait_processes(6);
	proc_tree_children(getpid(), first_child, &keeper);
	kill(keeper, SIGKILL);
	wait_end(fixture);
	assert_int_equal(WTERMSIG(fixture->report.status), SIGKILL);
}

/* Waits until the process is dead, even if its parent has not reaped it. */
static void wait_dead(pid_t pid)
{
	char path[64], text[4096] = "";

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	for (int i = 0; i < 20000 && !strstr(text, "State:\tZ"); i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t len = read(fd, text, sizeof(text) - 1);

		close(fd);
		text[len > 0 ? len : 0] = '\0';
		poll(NULL, 0, 5);
	}
	assert_non_null(strstr(text, "State:\tZ"));
}

/* A renewal may be sent while the program ends. */
static void pending_renewals_do_not_hide_the_exit_status(void **state)
{
	struct fixture *fixture = *state;
	const struct keeper_lease lease = lease_of(60000, 60000);
	pid_t keeper = 0, program = 0;

	start(fixture, "echo ready; exec sleep 3600", &(struct keeper_terms){.lease = lease});
	wait_output(fixture, "ready");
	proc_tree_children(getpid(), first_child, &keeper);
	proc_tree_children(keeper, first_child, &program);
	kill(keeper, SIGSTOP);
	for (int i = 0; i < 20; i++)
		child_renew(fixture->child, &lease);
	kill(program, SIGTERM);
	wait_dead(program);
	kill(keeper, SIGCONT);
	wait_end(fixture);
	assert_int_equal(fixture->report.status, SIGTERM);
}

static void no_process_is_left_if_the_worker_is_killed(void **state)
{
	struct fixture *fixture = *state;
	pid_t worker = fork();

	if (worker == 0) {
		start(fixture, ESCAPES, &(struct keeper_terms){.in_order = true});
		wait_output(fixture, "ready");
		wait_processes(6);
		kill(getpid(), SIGKILL);
	}
	waitpid(worker, NULL, 0);
	/* Orphaned processes are reparented to this one, which reaps them. */
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(proc_tree_use(getpid(), 0).processes, 0);
}

/* ---- without a worker ---- */

/* Counts its interrupts until a moment after the first, and prints the number. */
#define COUNTS                                                                                                         \
	"count = 0\n"                                                                                                  \
	"def note(*a):\n global count\n count += 1\n"                                                                  \
	"signal.signal(signal.SIGINT, note)\nprint('ready!' if early else 'begun!', end='', flush=True)\n"             \
	"while not count: time.sleep(0.01)\n"                                                                          \
	"time.sleep(0.5)\nprint('interrupts', count, flush=True)\""
#define APPLIES "exec python3 -c \"import signal,time\nearly = True\n" COUNTS
/* It has no signal handler yet when its worker dies. */
#define BEGINS                                                                                                         \
	"exec python3 -c \"import signal,time\nearly = False\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"          \
	"print('ready!', end='', flush=True)\ntime.sleep(0.6)\n" COUNTS

struct orphan {
	const char *command;
	struct keeper_terms terms;
	int held;         /* one more descriptor for the keeper */
	bool interrupted; /* by the worker, before it dies */
};

/* In a separate worker process: starts the program, reads "ready!", and is killed. The fixture's file gets the rest
 * of the output. */
static void orphan(struct fixture *fixture, const struct orphan *orphan)
{
	struct child_kept kept = {-1, fixture->output, orphan->held};
	char text[6];
	int output[2];

	assert_int_equal(pipe2(output, O_CLOEXEC), 0);
	fcntl(output[0], F_SETFL, O_NONBLOCK);
	kept.output = output[0];
	start_kept(fixture, orphan->command, &orphan->terms, &kept, output[1]);
	while (read(output[0], text, sizeof(text)) != (ssize_t)sizeof(text))
		poll(NULL, 0, 5);
	if (orphan->interrupted)
		child_interrupt(fixture->child);
	kill(getpid(), SIGKILL);
}

static void orphan_start(struct fixture *fixture, const struct orphan *wanted)
{
	pid_t worker = fork();

	if (worker == 0)
		orphan(fixture, wanted);
	waitpid(worker, NULL, 0);
}

static void wait_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0)
		;
	assert_int_equal(proc_tree_use(getpid(), 0).processes, 0);
}

static struct keeper_terms apply_terms(int64_t grace_ms)
{
	return (struct keeper_terms){.in_order = true, .outlives = true, .stop_ms = 60000, .grace_ms = grace_ms};
}

static void an_apply_is_interrupted_once_when_its_worker_is_killed(void **state)
{
	static const char *const programs[] = {APPLIES, BEGINS};
	struct fixture *fixture = *state;

	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		assert_int_equal(ftruncate(fixture->output, 0), 0);
		lseek(fixture->output, 0, SEEK_SET);
		orphan_start(fixture, &(struct orphan){programs[i], apply_terms(60000), -1, false});
		wait_output(fixture, "interrupts 1\n");
		wait_orphans();
	}
}

/* On a second interrupt terraform exits without writing its state. */
static void an_interrupted_apply_is_not_interrupted_again(void **state)
{
	struct fixture *fixture = *state;

	orphan_start(fixture, &(struct orphan){APPLIES, apply_terms(60000), -1, true});
	wait_output(fixture, "interrupts 1\n");
	wait_orphans();
}

static void an_apply_that_ignores_interrupts_is_killed_after_the_grace_period(void **state)
{
	struct fixture *fixture = *state;
	int64_t begun = clock_boot_ms();

	orphan_start(fixture, &(struct orphan){IGNORES_INTERRUPT, apply_terms(1500), -1, false});
	wait_output(fixture, "interrupted\n");
	wait_orphans();
	assert_true(clock_boot_ms() - begun >= 1500);
}

static void a_plan_is_killed_at_once_if_its_worker_is_killed(void **state)
{
	struct fixture *fixture = *state;

	orphan_start(fixture,
		&(struct orphan){
			IGNORES_INTERRUPT, {.in_order = true, .outlives = false, .stop_ms = 60000}, -1, false});
	wait_orphans();
	assert_null(strstr(output_text(fixture), "interrupted"));
}

/* The holder of a network ends when the last process that has its socket ends. */
static void a_network_exists_until_the_apply_has_ended(void **state)
{
	struct fixture *fixture = *state;
	const struct keeper_terms network = {.grace_ms = 60000};
	pid_t worker = fork();

	if (worker == 0) {
		int sockets[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
		fixture->input = sockets[1];
		start(fixture, "echo holds; read line; echo released", &network);
		wait_output(fixture, "holds");
		fixture->input = -1;
		close(sockets[1]);
		orphan(fixture, &(struct orphan){APPLIES, apply_terms(60000), sockets[0], false});
	}
	waitpid(worker, NULL, 0);
	wait_output(fixture, "interrupts 1\nreleased\n");
	wait_orphans();
}

/* ---- the lease ---- */

static void an_expired_lease_interrupts_the_program(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(3600 * 1000, 3600 * 1000), .in_order = true};
	struct keeper_lease shorter;

	start(fixture, HANDLES_INTERRUPT, &terms);
	wait_output(fixture, "ready");
	shorter = lease_of(0, 60000);
	child_renew(fixture->child, &shorter);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_LEASE);
	assert_int_equal(WEXITSTATUS(fixture->report.status), 7);
	assert_true(clock_boot_ms() < shorter.kill_ms);
}

static void a_program_that_ignores_interrupts_is_killed_at_the_end_of_the_lease(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(3600 * 1000, 3600 * 1000), .in_order = true};
	struct keeper_lease shorter;

	start(fixture, IGNORES_INTERRUPT, &terms);
	wait_output(fixture, "ready");
	shorter = lease_of(0, 2000);
	child_renew(fixture->child, &shorter);
	wait_output(fixture, "interrupted");
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_LEASE);
	assert_int_equal(WTERMSIG(fixture->report.status), SIGKILL);
	assert_true(clock_boot_ms() >= shorter.kill_ms);
}

static void a_program_without_orderly_stop_is_killed_at_once(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(1000, 3600 * 1000)};

	start(fixture, "sleep 3600", &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_LEASE);
	assert_int_equal(WTERMSIG(fixture->report.status), SIGKILL);
}

static void a_renewed_lease_does_not_end_the_program(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(60000, 60000), .in_order = true};
	struct keeper_lease first = terms.lease, longer = lease_of(90000, 90000);

	/* Tests the keeper's timer: it sleeps until the first lease would have ended, which is now. */
	first.interrupt_ms = first.kill_ms = clock_boot_ms() + 2000;
	terms.lease = first;
	start(fixture, "read line; exit 3", &terms);
	child_renew(fixture->child, &longer);
	while (clock_boot_ms() <= first.kill_ms)
		poll(NULL, 0, 10);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_ENDED);
}

static void an_apply_continues_after_its_lease(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(2000, 2001), .in_order = true, .outlives = true};
	int gate[2];
	char command[64];

	assert_int_equal(pipe(gate), 0);
	/* Opened through /proc, since a program inherits no descriptors. */
	snprintf(command, sizeof(command), "read line </proc/%d/fd/%d; exit 9", getpid(), gate[0]);
	start(fixture, command, &terms);
	while (clock_boot_ms() < terms.lease.kill_ms + 50)
		poll(NULL, 0, 10);
	assert_int_equal(write(gate[1], "go on\n", 6), 6);
	wait_end(fixture);
	close(gate[0]);
	close(gate[1]);
	assert_int_equal(WEXITSTATUS(fixture->report.status), 9);
	assert_int_equal(fixture->report.why, KEEPER_ENDED);
}

static void nothing_is_started_after_the_lease(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(-1, 0), .in_order = true, .outlives = true};
	char text[16];

	start(fixture, "echo started", &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_LEASE);
	assert_int_equal(pread(fixture->output, text, sizeof(text), 0), 0);
}

/* ---- the deadline ---- */

static void an_apply_is_interrupted_at_its_deadline(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.deadline = lease_of(1500, 3600 * 1000), .in_order = true, .outlives = true};

	start(fixture, HANDLES_INTERRUPT, &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_DEADLINE);
	assert_int_equal(WEXITSTATUS(fixture->report.status), 7);
	assert_true(clock_boot_ms() >= terms.deadline.interrupt_ms);
}

static void an_apply_that_ignores_interrupts_is_killed_at_its_deadline(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(3600 * 1000, 3600 * 1000),
		.deadline = lease_of(1000, 2500),
		.in_order = true,
		.outlives = true};
	struct keeper_lease longer = lease_of(7200 * 1000, 7200 * 1000);

	start(fixture, IGNORES_INTERRUPT, &terms);
	child_renew(fixture->child, &longer); /* renewing a lease does not move the deadline */
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_DEADLINE);
	assert_int_equal(WTERMSIG(fixture->report.status), SIGKILL);
	assert_true(clock_boot_ms() >= terms.deadline.kill_ms);
}

static void a_deadline_kills_processes_in_other_sessions(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.deadline = lease_of(1500, 1501), .in_order = true, .outlives = true};

	start(fixture, ESCAPES, &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_DEADLINE);
}

/* The stopped worker is not involved. It learns of the deadline when it continues. */
static void the_deadline_holds_while_the_worker_is_stopped(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.deadline = lease_of(1500, 3000), .in_order = true, .outlives = true};
	pid_t worker = fork(), keeper = 0;
	int status;

	if (worker == 0) {
		start(fixture, IGNORES_INTERRUPT, &terms);
		raise(SIGSTOP);
		wait_end(fixture);
		_exit(fixture->report.why == KEEPER_DEADLINE && WTERMSIG(fixture->report.status) == SIGKILL ? 0 : 1);
	}
	assert_int_equal(waitpid(worker, &status, WUNTRACED), worker);
	assert_true(WIFSTOPPED(status));
	proc_tree_children(worker, first_child, &keeper);
	wait_output(fixture, "interrupted");
	wait_dead(keeper); /* it exits after the last of its processes */
	assert_true(clock_boot_ms() >= terms.deadline.kill_ms);
	assert_int_equal(proc_tree_use(worker, 0).processes, 1); /* an unreaped zombie */
	kill(worker, SIGCONT);
	assert_int_equal(waitpid(worker, &status, 0), worker);
	assert_int_equal(status, 0);
}

static void nothing_is_started_after_the_deadline(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.deadline = lease_of(-1, 0), .in_order = true, .outlives = true};
	char text[16];

	start(fixture, "echo started", &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_DEADLINE);
	assert_int_equal(pread(fixture->output, text, sizeof(text), 0), 0);
}

/* terraform exits without its state when it is interrupted twice. */
static void a_program_is_interrupted_once(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.lease = lease_of(3600 * 1000, 3600 * 1000), .in_order = true};
	struct keeper_lease shorter;

	start(fixture, IGNORES_INTERRUPT, &terms);
	wait_output(fixture, "ready");
	child_interrupt(fixture->child);
	child_interrupt(fixture->child);
	wait_output(fixture, "interrupted\n");
	shorter = lease_of(0, 1000); /* its end interrupts as well */
	child_renew(fixture->child, &shorter);
	wait_end(fixture);
	assert_string_equal(output_text(fixture), "ready\ninterrupted\n");
}

/* Starts the keeper in a time namespace in which that clock is an hour ahead, as after a suspend of the machine. */
static enum keeper_why why_of_a_keeper_ahead(const char *option)
{
	struct keeper_order order = {.kind = KEEPER_START,
		.terms = {.deadline = lease_of(1800 * 1000, 1800 * 1000), .in_order = true, .outlives = true}};
	_cleanup_(freep) char *keeper = process_helper("runyard-keeper");
	struct keeper_report report;
	int sockets[2], status;
	pid_t pid;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	assert_int_equal(send(sockets[0], &order, sizeof(order), 0), sizeof(order));
	pid = fork();
	if (pid == 0) {
		dup2(sockets[1], KEEPER_FD);
		execlp("unshare", "unshare", "--time", option, "3600", "--fork", keeper, "/bin/true", NULL);
		_exit(127);
	}
	close(sockets[1]);
	assert_int_equal(recv(sockets[0], &report, sizeof(report), 0), sizeof(report));
	close(sockets[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return report.why;
}

static void no_program_starts_if_the_deadline_passed_during_a_suspend(void **state)
{
	(void)state;
	assert_int_equal(why_of_a_keeper_ahead("--boottime"), KEEPER_DEADLINE);
	assert_int_equal(why_of_a_keeper_ahead("--monotonic"), KEEPER_ENDED);
}

/* ---- limits ---- */

static void the_memory_of_all_processes_is_added(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.memory = 100 << 20, .stop_ms = 3600 * 1000, .in_order = true};

	/* Neither process alone exceeds the limit. */
	start(fixture,
		"python3 -c 'a = b\"x\" * (80 << 20); input()' </dev/zero & python3 -c 'a = b\"x\" * (80 << 20); "
		"input()' </dev/zero; sleep 3600",
		&terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_MEMORY);
}

/* No process maps the file. Both have it open, and it counts once. */
static void files_in_memory_are_counted_once(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.memory = 100 << 20, .stop_ms = 3600 * 1000, .in_order = true};

	start(fixture,
		"exec python3 -c \"import os, signal\n"
		"fd = os.memfd_create('x')\nfor i in range(60): os.write(fd, b'x' * (1 << 20))\n"
		"os.fork()\nprint('written', flush=True)\nsignal.pause()\"",
		&terms);
	wait_output(fixture, "written\nwritten");
	assert_in_range(proc_tree_use(getpid(), 0).memory, 60 << 20, 100 << 20);
	child_kill(fixture->child);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_ENDED);
}

static void files_in_memory_above_the_limit_stop_the_program(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.memory = 100 << 20, .stop_ms = 3600 * 1000, .in_order = true};

	start(fixture,
		"exec python3 -c \"import os, signal\n"
		"fds = [os.memfd_create('x') for i in range(20)]\nfor fd in fds: os.write(fd, b'x' * (10 << 20))\n"
		"signal.pause()\"",
		&terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_MEMORY);
}

/* The group's file is a plain file here. */
static void a_program_starts_in_its_control_group(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.stop_ms = 1};
	char procs[] = "/tmp/runyard-keeper-XXXXXX", text[4] = "";
	int fd = mkstemp(procs);

	assert_true(fd >= 0);
	snprintf(terms.group, sizeof(terms.group), "%s", procs);
	start(fixture, "exit 3", &terms);
	wait_end(fixture);
	assert_int_equal(WEXITSTATUS(fixture->report.status), 3);
	assert_int_equal(read(fd, text, sizeof(text)), 1);
	assert_string_equal(text, "0");
	close(fd);
	unlink(procs);
}

static void a_program_without_its_control_group_is_not_started(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.group = "/nowhere/cgroup.procs"};

	start(fixture, "echo started", &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.error, ENOENT);
	assert_int_equal(lseek(fixture->output, 0, SEEK_END), 0);
}

static void deleted_files_that_are_open_are_counted(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.memory = 0};

	start(fixture,
		"cd /var/tmp && exec python3 -c \"import os, signal, tempfile\n"
		"file = tempfile.TemporaryFile(dir='.')\nfile.write(b'x' * (20 << 20))\nfile.flush()\n"
		"os.fsync(file.fileno())\nother = os.dup(file.fileno())\nprint('written', "
		"flush=True)\nsignal.pause()\"",
		&terms);
	wait_output(fixture, "written");
	assert_in_range(proc_tree_use(getpid(), 0).deleted, 20 << 20, 21 << 20);
	child_kill(fixture->child);
	wait_end(fixture);
}

static void a_program_at_a_limit_is_interrupted_first(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.processes = 2, .stop_ms = 3600 * 1000, .in_order = true};

	start(fixture,
		"exec python3 -c \"import signal,subprocess,sys\n"
		"signal.signal(signal.SIGINT, lambda *a: sys.exit(7))\n"
		"for i in range(2): subprocess.Popen(['sleep', '3600'], start_new_session=True)\nsignal.pause()\"",
		&terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_PROCESSES);
	assert_true(WIFSIGNALED(fixture->report.status) || WEXITSTATUS(fixture->report.status) == 7);
}

static void a_program_at_a_limit_that_ignores_interrupts_is_killed(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.memory = 100 << 20, .stop_ms = 100, .in_order = true};

	start(fixture,
		"exec python3 -c \"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
		"a = b'x' * (105 << 20)\nwhile True: signal.pause()\"",
		&terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_MEMORY);
	assert_int_equal(WTERMSIG(fixture->report.status), SIGKILL);
}

static void a_fork_bomb_is_stopped(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits.processes = 40, .stop_ms = 3600 * 1000, .in_order = true};

	start(fixture, "while :; do setsid sleep 3600 & done", &terms);
	wait_end(fixture);
	assert_int_equal(fixture->report.why, KEEPER_PROCESSES);
}

static void file_size_and_address_space_are_limited(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.limits = {.file_size = 1 << 20, .addresses = 1 << 30}};

	start(fixture, "ulimit -f; ulimit -v", &terms);
	wait_output(fixture, "2048\n1048576\n");
	wait_end(fixture);
}

/* Only root's changes of an autogroup are never refused. */
static void a_program_of_low_priority_lowers_its_session_too(void **state)
{
	struct fixture *fixture = *state;
	struct keeper_terms terms = {.low_priority = true};

	start(fixture,
		"nice; [ $(id -u) != 0 ] || [ ! -e /proc/self/autogroup ] || grep -q 'nice 10' /proc/self/autogroup && "
		"echo lowered",
		&terms);
	wait_output(fixture, "10\nlowered\n");
	wait_end(fixture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_make, fixture_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(processes_in_other_sessions_are_killed),
		TEST(processes_in_other_sessions_end_with_the_program),
		TEST(no_process_is_left_if_the_keeper_is_killed),
		TEST(pending_renewals_do_not_hide_the_exit_status),
		TEST(no_process_is_left_if_the_worker_is_killed),
		TEST(an_apply_is_interrupted_once_when_its_worker_is_killed),
		TEST(an_interrupted_apply_is_not_interrupted_again),
		TEST(an_apply_that_ignores_interrupts_is_killed_after_the_grace_period),
		TEST(a_plan_is_killed_at_once_if_its_worker_is_killed),
		TEST(a_network_exists_until_the_apply_has_ended),
		TEST(an_expired_lease_interrupts_the_program),
		TEST(a_program_that_ignores_interrupts_is_killed_at_the_end_of_the_lease),
		TEST(a_program_without_orderly_stop_is_killed_at_once),
		TEST(a_renewed_lease_does_not_end_the_program),
		TEST(an_apply_continues_after_its_lease),
		TEST(nothing_is_started_after_the_lease),
		TEST(an_apply_is_interrupted_at_its_deadline),
		TEST(an_apply_that_ignores_interrupts_is_killed_at_its_deadline),
		TEST(a_deadline_kills_processes_in_other_sessions),
		TEST(the_deadline_holds_while_the_worker_is_stopped),
		TEST(nothing_is_started_after_the_deadline),
		TEST(a_program_is_interrupted_once),
		TEST(no_program_starts_if_the_deadline_passed_during_a_suspend),
		TEST(a_program_of_low_priority_lowers_its_session_too),
		TEST(the_memory_of_all_processes_is_added),
		TEST(files_in_memory_are_counted_once),
		TEST(files_in_memory_above_the_limit_stop_the_program),
		TEST(deleted_files_that_are_open_are_counted),
		TEST(a_program_starts_in_its_control_group),
		TEST(a_program_without_its_control_group_is_not_started),
		TEST(a_program_at_a_limit_is_interrupted_first),
		TEST(a_program_at_a_limit_that_ignores_interrupts_is_killed),
		TEST(a_fork_bomb_is_stopped),
		TEST(file_size_and_address_space_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
