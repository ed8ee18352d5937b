/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_CHILD_H
#define WORKER_EXEC_CHILD_H

/*
 * A program that runs for a job, from one spec, below a keeper of its own (keeper/keeper.h) and in a session of its
 * own. It has ended when the last process of it is gone, wherever that went.
 *
 * A process that has children of this kind has no others, since what a killed keeper leaves becomes its child and is
 * killed as such. It is a child subreaper and ignores SIGINT (main.c).
 */

#include <sys/types.h>

#include "common/base.h"
#include "worker/keeper/keeper.h"

struct err;
struct loop;
struct child;

enum { CHILD_MOST_FDS = KEEPER_FD };

/* Descriptors that the keeper uses when this process is gone (keeper/keeper.h); -1: none. Borrowed for the start. */
struct child_kept {
	int output; /* read end of the program's output; it must not block */
	int copy;   /* file that the rest of the output is appended to */
	int held;   /* stays open until the keeper ends */
};

struct child_spec {
	char *const *argv;       /* argv[0] is the program's absolute path */
	char *const *env;        /* all of it; nothing is inherited */
	const char *folder;      /* to start in */
	int fds[CHILD_MOST_FDS]; /* what becomes 0 to 4; -1: /dev/null for the first three, the others are closed */
	const int *network; /* the user and network namespace to run in, above KEEPER_FDS_END; or NULL: this process's
			       own */
	const struct child_kept *kept; /* or NULL */
	struct keeper_terms terms;
};

/* `report` is borrowed for the call. Called once, when all of it is gone; the child is freed then. */
typedef void (*child_fn)(void *data, const struct keeper_report *report);

/* Borrows the spec for the call alone. ERR_INTERNAL. */
int child_start(struct loop *loop, const struct child_spec *spec, child_fn fn, void *data, struct child **ret_child,
	struct err *err);
/* A file in memory for the output of a program and all that it starts. They append: for such files, the kernel does not
 * order writers that share a position, and one would overwrite the other. -1 and errno. */
int child_output(void);
/* The pid of its keeper, the ancestor of all its processes (keeper/kin.h). */
pid_t child_keeper(const struct child *child);
/* Its lease ends later now. */
void child_renew(struct child *child, const struct keeper_lease *lease);
/* SIGINT to the whole group: terraform stops in order. */
void child_interrupt(struct child *child);
/* SIGKILL to all of it. */
void child_kill(struct child *child);
/* Takes it: SIGKILL, and its end is waited for here; its child_fn is not called. For when the loop runs no more. NULL
 * is fine. */
void child_abandon(struct child *child);

/* ERR_INTERNAL with what to do if children can't be kept here: runyard-keeper has to stand beside this program, and the
 * kernel has to tell of processes' children. */
int child_check(struct err *err);

#endif
