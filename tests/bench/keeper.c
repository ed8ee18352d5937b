/* SPDX-License-Identifier: MPL-2.0 */
/* keeper KEEPER PROGRAM ARGUMENT...: runs the program a few hundred times by itself and below the keeper, in turn.
 * Prints the median milliseconds of each, from its start until no process of it is left. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker/keeper/keeper.h"

enum { TIMES = 300, HIGH_FD = 20 };

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void run(char **argv, int orders)
{
	posix_spawn_file_actions_t actions;
	char *const env[] = {NULL};
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	if (orders >= 0)
		posix_spawn_file_actions_adddup2(&actions, orders, KEEPER_FD);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, env) != 0)
		exit(1);
	posix_spawn_file_actions_destroy(&actions);
	while (waitpid(-1, NULL, 0) > 0)
		; /* a sandbox's first process is reaped by an ancestor */
}

static double run_kept(char **argv)
{
	struct keeper_order order = {.kind = KEEPER_START,
		.terms = {.lease = {INT64_MAX / 2, INT64_MAX / 2},
			.limits = {.memory = (int64_t)4 << 30, .processes = 1024}}};
	struct keeper_report report;
	double begun = now_ms();
	int sockets[2], theirs;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		exit(1);
	theirs = fcntl(sockets[1], F_DUPFD_CLOEXEC, HIGH_FD);
	send(sockets[0], &order, sizeof(order), 0);
	run(argv, theirs);
	if (recv(sockets[0], &report, sizeof(report), 0) != (ssize_t)sizeof(report) || report.status != 0)
		exit(1);
	close(sockets[0]);
	close(sockets[1]);
	close(theirs);
	return now_ms() - begun;
}

static int compare(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
	double bare[TIMES], kept[TIMES];

	if (argc < 3 || prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		return 2;
	for (int i = 0; i < TIMES; i++) {
		double begun = now_ms();

		run(argv + 2, -1);
		bare[i] = now_ms() - begun;
		kept[i] = run_kept(argv + 1);
	}
	qsort(bare, TIMES, sizeof(*bare), compare);
	qsort(kept, TIMES, sizeof(*kept), compare);
	printf("%.2f %.2f\n", bare[TIMES / 2], kept[TIMES / 2]);
	return 0;
}
