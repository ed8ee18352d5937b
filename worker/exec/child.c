/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/loop/loop.h"
#include "common/process.h"
#include "worker/exec/program.h"
#include "worker/keeper/proc_tree.h"

enum { SWEEP_MS = 5 };

static const char keeper_name[] = "runyard-keeper";

struct child {
	struct loop *loop;
	int keeper; /* pid */
	int orders; /* socket to it */
	struct keeper_report report;
	struct loop_timer timer;
	child_fn fn;
	void *data;
	struct child *next;
};

/* This process's children. Any other child of the process was left by a killed keeper. */
static struct child *children;

static void order(const struct child *child, enum keeper_kind kind, const struct keeper_terms *terms)
{
	struct keeper_order message;

	memset(&message, 0, sizeof(message));
	message.kind = kind;
	if (terms)
		message.terms = *terms;
	/* The keeper reads orders as they arrive; an ended one needs none. */
	send(child->orders, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

pid_t child_keeper(const struct child *child)
{
	return child->keeper;
}

void child_renew(struct child *child, const struct keeper_lease *lease)
{
	order(child, KEEPER_RENEW, &(struct keeper_terms){.lease = *lease});
}

void child_interrupt(struct child *child)
{
	order(child, KEEPER_INTERRUPT, NULL);
}

void child_kill(struct child *child)
{
	order(child, KEEPER_KILL, NULL);
}

/* ---- the end ---- */

static void child_free(struct child *child)
{
	struct child **at;

	for (at = &children; *at != child; at = &(*at)->next)
		;
	*at = child->next;
	loop_timer_clear(child->loop, &child->timer);
	close(child->orders);
	free(child);
}

static void child_finish(struct child *child)
{
	struct child ended = *child;

	child_free(child);
	ended.fn(ended.data, &ended.report);
}

static bool is_keeper(pid_t pid)
{
	for (const struct child *child = children; child; child = child->next)
		if (child->keeper == pid)
			return true;
	return false;
}

static void stray_kill(void *data, pid_t pid)
{
	bool *left = data;

	if (is_keeper(pid))
		return;
	*left = true;
	proc_tree_kill(pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, WNOHANG);
}

/* Kills children that are no keepers. True if there were any. */
static bool strays_kill(void)
{
	bool left = false;

	proc_tree_children(getpid(), stray_kill, &left);
	return left;
}

static void strays_check(void *data)
{
	struct child *child = data;

	if (strays_kill())
		loop_timer_set(child->loop, &child->timer, SWEEP_MS, strays_check, child);
	else
		child_finish(child);
}

/* True if the keeper reported how the program ended; otherwise the keeper was killed. If the keeper left orders unread,
 * the socket returns a connection error first, and the report after it. */
static bool report_read(struct child *child)
{
	ssize_t got = recv(child->orders, &child->report, sizeof(child->report), MSG_DONTWAIT);

	if (got < 0 && errno == ECONNRESET)
		got = recv(child->orders, &child->report, sizeof(child->report), MSG_DONTWAIT);
	if (got == (ssize_t)sizeof(child->report))
		return true;
	child->report = (struct keeper_report){.status = SIGKILL};
	return false;
}

static void keeper_ended(void *data, int pid, int status)
{
	struct child *child = data;

	(void)pid;
	(void)status;
	child->keeper = 0;
	if (report_read(child))
		child_finish(child);
	else
		strays_check(child);
}

void child_abandon(struct child *child)
{
	if (!child)
		return;
	child_kill(child);
	if (child->keeper) {
		loop_child_forget(child->loop, child->keeper);
		waitpid(child->keeper, NULL, 0);
	}
	child_free(child);
}

/* ---- the start ---- */

static const char *keeper_path(void)
{
	static char *path;

	if (!path)
		path = process_helper(keeper_name);
	return path;
}

int child_check(struct err *err)
{
	if (access(keeper_path(), X_OK) < 0)
		return err_set(err, ERR_INTERNAL, "the helper program %s can't be started: %s", keeper_path(),
			strerror(errno));
	if (!proc_tree_can_be_seen())
		return err_set(err, ERR_INTERNAL,
			"the kernel does not tell of processes' children (/proc/*/task/*/children, "
			"CONFIG_PROC_CHILDREN), without which a job's can't be found");
	return 0;
}

static void add_optional(posix_spawn_file_actions_t *actions, int fd, int target)
{
	if (fd >= 0)
		posix_spawn_file_actions_adddup2(actions, fd, target);
	else
		posix_spawn_file_actions_addclose(actions, target);
}

static void add_fds(
	posix_spawn_file_actions_t *actions, const struct child_spec *spec, const struct child_kept *kept, int orders)
{
	for (int i = 0; i < CHILD_MAX_FDS; i++) {
		if (spec->fds[i] >= 0)
			posix_spawn_file_actions_adddup2(actions, spec->fds[i], i);
		else if (i <= STDERR_FILENO)
			posix_spawn_file_actions_addopen(actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
		else
			posix_spawn_file_actions_addclose(actions, i);
	}
	posix_spawn_file_actions_adddup2(actions, orders, KEEPER_FD);
	add_optional(actions, spec->network ? spec->network[0] : -1, KEEPER_USER_FD);
	add_optional(actions, spec->network ? spec->network[1] : -1, KEEPER_NET_FD);
	add_optional(actions, kept->output, KEEPER_OUTPUT_FD);
	add_optional(actions, kept->copy, KEEPER_COPY_FD);
	add_optional(actions, kept->held, KEEPER_HELD_FD);
	/* Libraries open sockets without close-on-exec, such as connections with answers for other jobs. */
	posix_spawn_file_actions_addclosefrom_np(actions, KEEPER_FDS_END);
	posix_spawn_file_actions_addchdir_np(actions, spec->folder);
}

/* Resets all signals to their defaults, except SIGINT. The worker ignores SIGINT, and the keeper and the sandbox's
 * own processes inherit that. So an interrupt of the group reaches terraform (which handles it) and ends no process
 * around it. */
static void set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, fresh;

	sigemptyset(&none);
	sigfillset(&fresh);
	sigdelset(&fresh, SIGINT);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &fresh);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* Duplicates the descriptor to a number above the keeper's own. -1 for -1. */
static int fd_above(int fd)
{
	return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, KEEPER_FDS_END);
}

static int spawn(const struct child_spec *spec, char *const *argv, int orders, int *ret_pid, struct err *err)
{
	_cleanup_(closep) int output = fd_above(spec->kept ? spec->kept->output : -1);
	_cleanup_(closep) int copy = fd_above(spec->kept ? spec->kept->copy : -1);
	_cleanup_(closep) int held = fd_above(spec->kept ? spec->kept->held : -1);
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	add_fds(&actions, spec, &(struct child_kept){output, copy, held}, orders);
	set_signals(&attributes);
	code = posix_spawn(ret_pid, argv[0], &actions, &attributes, argv, spec->env);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (code != 0)
		return err_set(err, ERR_INTERNAL, "%s can't be started: %s", spec->argv[0], strerror(code));
	return 0;
}

static int spawn_keeper(const struct child_spec *spec, int orders, int *ret_pid, struct err *err)
{
	_cleanup_(freep) char **argv = NULL;
	_cleanup_(closep) int high = fd_above(orders);
	size_t count = 0;

	if (high < 0)
		return err_errno(err, "dup");
	if (access(spec->argv[0], X_OK) < 0)
		return err_set(err, ERR_INTERNAL, "%s can't be started: %s", spec->argv[0], strerror(errno));
	while (spec->argv[count])
		count++;
	argv = mem_new(count + 2, sizeof(*argv));
	argv[0] = (char *)keeper_path();
	memcpy(argv + 1, spec->argv, count * sizeof(*argv));
	return spawn(spec, argv, high, ret_pid, err);
}

int child_output(void)
{
	int fd = memfd_create("output", MFD_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_SETFL, O_APPEND) == 0)
		return fd;
	close(fd);
	return -1;
}

int child_start(struct loop *loop, const struct child_spec *spec, struct child **ret_child, struct err *err)
{
	_cleanup_(closep) int theirs = -1;
	struct keeper_terms terms = spec->terms;
	struct child *child;
	int sockets[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return err_errno(err, "socketpair");
	theirs = sockets[1];
	child = mem_new(1, sizeof(*child));
	*child = (struct child){
		.loop = loop, .orders = sockets[0], .fn = spec->ended, .data = spec->data, .next = children};
	children = child;
	terms.network = spec->network != NULL;
	order(child, KEEPER_START, &terms);
	if (spawn_keeper(spec, theirs, &child->keeper, err) < 0) {
		child_free(child);
		return -1;
	}
	if (loop_child(loop, child->keeper, keeper_ended, child, err) < 0) {
		child_abandon(child);
		return -1;
	}
	*ret_child = child;
	return 0;
}
