/* SPDX-License-Identifier: MPL-2.0 */
/*
 * The program runyard-keeper; keeper.h states its guarantees. It is statically linked and uses only libc: it starts in
 * a fraction of a millisecond, and no variable in the program's environment affects it.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/keeper/keeper.h"
#include "worker/keeper/proc_tree.h"

enum { LOOK_MS = 250, SWEEP_MS = 5, CHUNK = 64 * 1024 };

struct keeper {
	struct keeper_terms terms;
	struct keeper_report report;
	int clock;   /* timerfd */
	int signals; /* signalfd of SIGCHLD */
	pid_t program;
	bool ended;       /* the program has ended */
	bool alone;       /* no process is left */
	bool killing;     /* every process is to be killed */
	bool interrupted; /* the program was interrupted */
	bool orphaned;    /* the worker is gone */
	bool has_output;  /* KEEPER_OUTPUT_FD and KEEPER_COPY_FD are there */
	size_t copied;    /* bytes of output copied */
	int64_t stop_by;  /* when everything is killed; 0: no limit was exceeded and the worker is there */
	int64_t look_at;  /* when to measure the limits next; 0: never */
};

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- the program ---- */

static void limit_set(int resource, int64_t max)
{
	const struct rlimit limit = {(rlim_t)max, (rlim_t)max};

	if (max > 0)
		setrlimit(resource, &limit);
}

static int text_write(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int status = fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -1;

	if (fd >= 0)
		close(fd);
	return status;
}

/* Enters the user namespace first: it gives the capability to enter the network namespace. The program loses that
 * capability at exec, unless the worker is root; bwrap drops it then. */
static int network_enter(const struct keeper *keeper)
{
	if (!keeper->terms.network)
		return 0;
	return setns(KEEPER_USER_FD, CLONE_NEWUSER) < 0 ? -1 : setns(KEEPER_NET_FD, CLONE_NEWNET);
}

/* Lowers the priority of the process and of its session: the kernel's autogroups share the CPU between sessions, and
 * within one by process. Best effort: a kernel may lack autogroups, and refuses changes within 100 ms of the last. */
static void priority_lower(void)
{
	setpriority(PRIO_PROCESS, 0, 10);
	text_write("/proc/self/autogroup", "10");
}

/* Runs in the vforked child, which borrows the keeper's memory until exec. */
static void become(struct keeper *keeper, char **argv, pid_t parent)
{
	/* Without its group, the program would run without its limits, so it is not started.
	 * The network comes before the parent-death signal, which a change of credentials may clear. */
	bool entered =
		(!*keeper->terms.group || text_write(keeper->terms.group, "0") == 0) && network_enter(keeper) == 0;
	int why = errno;
	sigset_t none;

	sigemptyset(&none);
	setsid(); /* a process group of its own, and no terminal to inject input into */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit_set(RLIMIT_FSIZE, keeper->terms.limits.file_size);
	limit_set(RLIMIT_AS, keeper->terms.limits.addresses);
	if (keeper->terms.low_priority)
		priority_lower();
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() == parent && entered)
		execv(argv[0], argv);
	keeper->report.error = entered ? errno : why;
	_exit(127);
}

static void program_start(struct keeper *keeper, char **argv)
{
	pid_t self = getpid();
	pid_t pid = vfork(); /* NOLINT(clang-analyzer-security.insecureAPI.vfork) */

	if (pid == 0)
		become(keeper, argv, self); /* NOLINT(clang-analyzer-unix.Vfork): it makes system calls, and no more */
	if (pid < 0)
		keeper->report.error = errno;
	keeper->program = pid;
	keeper->ended = keeper->alone = pid < 0;
	/* Closes the keeper's copies, so that the reader of the program's output sees its end. */
	for (int fd = 0; fd < KEEPER_OUTPUT_FD; fd++)
		if (fd != KEEPER_FD)
			close(fd);
}

static void reap(struct keeper *keeper)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != keeper->program)
			continue;
		keeper->report.status = status;
		keeper->ended = true;
		keeper->killing = true; /* kills the processes that it left behind */
	}
	keeper->alone = pid < 0 && errno == ECHILD;
}

/* ---- stopping ---- */

static void interrupt(struct keeper *keeper)
{
	if (!keeper->interrupted && !keeper->ended)
		kill(-keeper->program, SIGINT);
	keeper->interrupted = true;
}

static void stop(struct keeper *keeper, enum keeper_why why)
{
	if (keeper->report.why == KEEPER_ENDED && !keeper->ended)
		keeper->report.why = why;
	if (keeper->terms.in_order)
		interrupt(keeper);
	else
		keeper->killing = true;
}

static void time_check(struct keeper *keeper, const struct keeper_lease *until, enum keeper_why why, int64_t now)
{
	if (!until->kill_ms || now < until->interrupt_ms)
		return;
	stop(keeper, why);
	if (now >= until->kill_ms)
		keeper->killing = true;
}

/* model: deadman */
static void lease_check(struct keeper *keeper, int64_t now)
{
	if (!keeper->terms.outlives)
		time_check(keeper, &keeper->terms.lease, KEEPER_LEASE, now);
}

/* model: limit */
static void deadline_check(struct keeper *keeper, int64_t now)
{
	time_check(keeper, &keeper->terms.deadline, KEEPER_DEADLINE, now);
}

/* Stops a program that exceeds a limit. Kills it if it grows beyond 1.25 times the limit while it stops. */
static void limit_check(struct keeper *keeper, int64_t used, int64_t max, enum keeper_why why)
{
	if (max <= 0 || used <= max)
		return;
	stop(keeper, why);
	if (!keeper->stop_by)
		keeper->stop_by = now_ms() + keeper->terms.stop_ms;
	if (used > max + max / 4)
		keeper->killing = true;
}

static void limits_check(struct keeper *keeper, int64_t now)
{
	const struct keeper_limits *limits = &keeper->terms.limits;
	struct proc_tree_use use;

	if (keeper->stop_by && now >= keeper->stop_by)
		keeper->killing = true;
	if (!keeper->look_at || now < keeper->look_at)
		return;
	keeper->look_at = now + LOOK_MS;
	use = proc_tree_use(getpid(), 0);
	limit_check(keeper, use.memory, limits->memory, KEEPER_MEMORY);
	limit_check(keeper, use.processes, limits->processes, KEEPER_PROCESSES);
}

/* ---- without the worker ---- */

static void worker_gone(struct keeper *keeper)
{
	int64_t now = now_ms();

	keeper->orphaned = true;
	if (keeper->terms.grace_ms <= 0 || keeper->ended)
		keeper->killing = true;
	if (!keeper->stop_by)
		keeper->stop_by = now + keeper->terms.grace_ms;
	keeper->look_at = now;
}

/* Waits for the engine's handler, because an earlier interrupt is lost. */
static void orphan_check(struct keeper *keeper)
{
	if (keeper->orphaned && keeper->terms.in_order && !keeper->interrupted && proc_tree_handles(getpid(), SIGINT))
		interrupt(keeper);
}

/* Drains the output. Without a reader, the program would block on a full pipe, or its next write would kill it. */
static void output_copy(struct keeper *keeper)
{
	char chunk[CHUNK];
	ssize_t got = -1;

	while (keeper->has_output && (got = read(KEEPER_OUTPUT_FD, chunk, sizeof(chunk))) > 0) {
		if (keeper->copied + (size_t)got <= KEEPER_COPY_MAX && write(KEEPER_COPY_FD, chunk, (size_t)got) == got)
			keeper->copied += (size_t)got;
		else
			keeper->copied = KEEPER_COPY_MAX; /* copy no more, so that no line continues after a gap */
	}
	if (got == 0)
		keeper->has_output = false;
}

/* ---- orders ---- */

static void order_take(struct keeper *keeper)
{
	struct keeper_order order;
	ssize_t got = recv(KEEPER_FD, &order, sizeof(order), MSG_DONTWAIT);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got != (ssize_t)sizeof(order))
		worker_gone(keeper);
	else if (order.kind == KEEPER_KILL)
		keeper->killing = true;
	else if (order.kind == KEEPER_RENEW)
		keeper->terms.lease = order.terms.lease;
	else if (order.kind == KEEPER_INTERRUPT)
		interrupt(keeper);
}

/* ---- the loop ---- */

static int64_t sooner(int64_t a, int64_t b)
{
	return a && (!b || a < b) ? a : b;
}

static int64_t time_next(const struct keeper_lease *until, int64_t now)
{
	return now < until->interrupt_ms ? until->interrupt_ms : until->kill_ms;
}

static int64_t next_ms(const struct keeper *keeper, int64_t now)
{
	int64_t next = sooner(keeper->stop_by, keeper->look_at);

	if (keeper->killing)
		return now + SWEEP_MS;
	next = sooner(time_next(&keeper->terms.deadline, now), next);
	return keeper->terms.outlives ? next : sooner(time_next(&keeper->terms.lease, now), next);
}

static void keeper_wait(struct keeper *keeper)
{
	int64_t now = now_ms(), next = next_ms(keeper, now);
	const struct itimerspec at = {.it_value = {.tv_sec = next / 1000, .tv_nsec = next % 1000 * 1000000}};
	/* The closed socket stays readable, so it is not polled again after the worker is gone. */
	struct pollfd watched[] = {{.fd = keeper->signals, .events = POLLIN}, {.fd = keeper->clock, .events = POLLIN},
		{.fd = keeper->killing || keeper->orphaned ? -1 : KEEPER_FD, .events = POLLIN},
		{.fd = keeper->orphaned && keeper->has_output ? KEEPER_OUTPUT_FD : -1, .events = POLLIN}};
	struct signalfd_siginfo info;

	timerfd_settime(keeper->clock, TFD_TIMER_ABSTIME, &at, NULL);
	poll(watched, sizeof(watched) / sizeof(*watched), -1);
	if (watched[0].revents && read(keeper->signals, &info, sizeof(info)) < 0)
		return;
	if (watched[2].revents)
		order_take(keeper);
	if (watched[3].revents)
		output_copy(keeper);
}

static void keeper_run(struct keeper *keeper)
{
	while (!keeper->alone) {
		int64_t now;

		keeper_wait(keeper);
		reap(keeper);
		now = now_ms();
		if (!keeper->killing) {
			lease_check(keeper, now);
			deadline_check(keeper, now);
			limits_check(keeper, now);
			orphan_check(keeper);
		}
		if (keeper->killing && !keeper->alone)
			proc_tree_kill(getpid());
	}
	if (keeper->orphaned)
		output_copy(keeper);
}

/* Keeps the program from inheriting the descriptor. Returns -1 if the descriptor is not open. */
static int program_lacks(int fd)
{
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

static int keeper_open(struct keeper *keeper)
{
	struct keeper_order order;
	sigset_t ended;

	if (recv(KEEPER_FD, &order, sizeof(order), 0) != (ssize_t)sizeof(order) || order.kind != KEEPER_START)
		return -1;
	keeper->terms = order.terms;
	/* The program joins the namespaces but gets no descriptor of them. */
	if (order.terms.network && (program_lacks(KEEPER_USER_FD) < 0 || program_lacks(KEEPER_NET_FD) < 0))
		return -1;
	keeper->has_output = program_lacks(KEEPER_OUTPUT_FD) == 0 && program_lacks(KEEPER_COPY_FD) == 0;
	program_lacks(KEEPER_HELD_FD);
	if (order.terms.limits.memory || order.terms.limits.processes)
		keeper->look_at = now_ms() + LOOK_MS;
	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ended, NULL);
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Runs after the program has its descriptors, because these may take their numbers. */
static int keeper_watch(struct keeper *keeper)
{
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	keeper->signals = signalfd(-1, &ended, SFD_CLOEXEC | SFD_NONBLOCK);
	keeper->clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return keeper->signals < 0 || keeper->clock < 0 ? -1 : 0;
}

static bool time_is_over(const struct keeper_lease *until)
{
	return until->kill_ms && now_ms() >= until->kill_ms;
}

int main(int argc, char **argv)
{
	struct keeper keeper = {.report = {.status = 127 << 8}};

	if (argc < 2 || program_lacks(KEEPER_FD) < 0 || keeper_open(&keeper) < 0) {
		fputs("runyard-keeper is started by runyard-worker alone\n", stderr);
		return 2;
	}
	if (time_is_over(&keeper.terms.lease)) {
		keeper.report.why = KEEPER_LEASE;
	} else if (time_is_over(&keeper.terms.deadline)) {
		keeper.report.why = KEEPER_DEADLINE;
	} else {
		program_start(&keeper, argv + 1);
		if (keeper_watch(&keeper) < 0)
			return 1; /* the parent-death signal kills the program, and the worker handles the rest */
		keeper_run(&keeper);
	}
	send(KEEPER_FD, &keeper.report, sizeof(keeper.report), MSG_NOSIGNAL);
	return 0;
}
