/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_CHILD_H
#define WORKER_EXEC_CHILD_H

/*
 * A program of a job, which runs below a keeper of its own (keeper/keeper.h) and in a session of its own. It has ended
 * when its last process is gone, in whatever session or group that is.
 *
 * A process that uses this module must have no other children. Processes that a killed keeper leaves behind become its
 * children, so this module kills every child that it does not know. The process is a child subreaper and ignores SIGINT
 * (main.c).
 */

#include <sys/types.h>

#include "common/base.h"
#include "worker/keeper/keeper.h"

struct err;
struct loop;
struct child;

enum { CHILD_MAX_FDS = KEEPER_FD };

/* Descriptors for the keeper, which uses them when this process is gone (keeper/keeper.h). -1: none. Borrowed during
 * child_start. */
struct child_kept {
	int output; /* read end of the program's output; it must not block */
	int copy;   /* file that the rest of the output is appended to */
	int held;   /* stays open until the keeper ends */
};

/* Called once, when all processes are gone; the child is freed afterwards. `report` is borrowed during the call. */
typedef void (*child_fn)(void *data, const struct keeper_report *report);

struct child_spec {
	char *const *argv;      /* argv[0] is the program's absolute path */
	char *const *env;       /* the whole environment; nothing is inherited */
	const char *folder;     /* working directory */
	int fds[CHILD_MAX_FDS]; /* become descriptors 0 to 4; -1: /dev/null for 0 to 2, closed for the others */
	const int *network;     /* user and network namespace, both above KEEPER_FDS_END; NULL: this process's own */
	const struct child_kept *kept; /* or NULL */
	struct keeper_terms terms;
	child_fn ended;
	void *data;
};

/* Borrows the spec during the call. ERR_INTERNAL. */
int child_start(struct loop *loop, const struct child_spec *spec, struct child **ret_child, struct err *err);
/* A memory file for the output of a program and its descendants. They open it for appending: for such files, the
 * kernel does not order writers that share a position, and one would overwrite another. -1 and errno. */
int child_output(void);
/* The process id of its keeper, the ancestor of all its processes (keeper/proc_tree.h). */
pid_t child_keeper(const struct child *child);
/* Extends its lease. */
void child_renew(struct child *child, const struct keeper_lease *lease);
/* Sends SIGINT to the whole group: terraform stops in order. */
void child_interrupt(struct child *child);
/* Kills all its processes with SIGKILL. */
void child_kill(struct child *child);
/* Takes the child, kills it with SIGKILL, and blocks until it has ended. Its child_fn is not called. For use when
 * the loop no longer runs. NULL is fine. */
void child_abandon(struct child *child);

/* Checks that this machine can run children: runyard-keeper must be installed (process_helper), and the kernel must
 * list the children of processes. ERR_INTERNAL with advice. */
int child_check(struct err *err);

#endif
