/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_CHILD_H
#define WORKER_EXEC_CHILD_H

/*
 * A program that runs for a job, from one spec, in a process group of its own. It has ended when the last process of it
 * is gone: in a sandbox that is the death of its process namespace, which takes everything in it along.
 */

#include "common/base.h"

struct err;
struct loop;
struct child;

enum { CHILD_MOST_FDS = 4 };

struct child_spec {
	char *const *argv;       /* argv[0] is the program's absolute path */
	char *const *env;        /* all of it; nothing is inherited */
	const char *folder;      /* to start in */
	int fds[CHILD_MOST_FDS]; /* what becomes 0, 1, 2 and 3; -1: /dev/null for the first three, nothing for the
				    fourth */
	bool sandboxed;          /* argv is bwrap's, and it writes its --info-fd to 4 */
};

/* `status` is waitpid's of the program. Called once, when all of it is gone; the child is freed then. */
typedef void (*child_fn)(void *data, int status);

/* Borrows the spec for the call alone. ERR_INTERNAL. */
int child_start(struct loop *loop, const struct child_spec *spec, child_fn fn, void *data, struct child **ret_child,
	struct err *err);
/* SIGINT to the whole group: terraform stops in order. */
void child_interrupt(struct child *child);
/* SIGKILL to all of it. */
void child_kill(struct child *child);
/* Takes it: SIGKILL, and its end is waited for here; its child_fn is not called. For when the loop runs no more. NULL
 * is fine. */
void child_abandon(struct child *child);
/* Of the group's first process. */
int child_pid(const struct child *child);

#endif
