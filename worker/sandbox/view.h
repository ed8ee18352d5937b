/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SANDBOX_VIEW_H
#define WORKER_SANDBOX_VIEW_H

/*
 * runyard-sandbox starts a program in a sandbox whose file system bwrap has made before. bwrap takes about 6 ms for
 * each program that it starts. A copy of its mount namespace takes less than 2 ms.
 *
 * A base is a mount namespace. bwrap makes it with all that the programs of an engine see (exec/sandbox.c), and with
 * the worker's data directory at VIEW_HOST/data. The folder of hooks, if there is one, is at VIEW_HOST/hooks. bwrap's
 * program, `runyard-sandbox base`, sends the base's descriptor over the socket VIEW_BASE_FD and ends, so no process is
 * left in a base.
 *
 * `runyard-sandbox make BWRAP ARGUMENT...` becomes bwrap. If VIEW_USER_FD is open, it is a user namespace that it
 * enters before. It is killed when the calling thread ends.
 *
 * `runyard-sandbox run PROGRAM ARGUMENT...` starts a program:
 *
 *  1. It joins the user namespace that owns the base, and the base. It makes PID, IPC and UTS namespaces and a copy of
 *     the base, and a first process in them.
 *  2. The first process mounts a new /proc, /dev/pts, /dev/shm and /tmp. So no two programs share anything that they
 *     can write to. It mounts what the view names from VIEW_HOST, and then removes VIEW_HOST from the copy.
 *  3. It enters a new user namespace that has no rights over any of these, maps the worker's user to itself, and drops
 *     all capabilities.
 *  4. It starts the program with the system call filter, and ends with it. The kernel then kills all other processes of
 *     the PID namespace. The exit code is the program's, or 128 plus the number of the signal that ended it.
 *
 * The environment of runyard-sandbox is empty, because a job's variables must not affect a program outside of the
 * sandbox. The program's environment is in the view. If a step fails, runyard-sandbox writes the reason to its standard
 * error and exits with 1; the program does not start.
 *
 * A view is a memory file: a struct view_header, the system call filter, and texts that each end with a zero byte. The
 * first text of a record is its name:
 *
 *     bind FROM TO       mounts a folder or file
 *     ro-bind FROM TO    the same, read-only
 *     set NAME=VALUE     a variable of the program's environment
 *     chdir FOLDER       its working directory
 */

#include <stdint.h>

#define VIEW_HOST "/.host" /* in a base; no program sees its content */

enum {
	VIEW_ARGS_FD = 3, /* run: the view */
	VIEW_USER_FD = 3, /* make: a user namespace, if open */
	VIEW_BASE_FD = 4, /* run: the base. make, base: a SOCK_SEQPACKET socket */
	VIEW_MAX = 16 * 1024 * 1024,
	VIEW_SHM_BYTES = 64 * 1024 * 1024,
};

struct view_header {
	int64_t tmp_bytes;     /* limit of /tmp; 0: half of the machine's memory */
	uint32_t offline;      /* 1: a network namespace of its own, with a loopback only */
	uint32_t filter_bytes; /* of struct sock_filter */
	uint32_t text_bytes;
	uint32_t reserved;
};

/* Readable files of /proc that describe more than a job's own processes. They are masked. /proc itself is read-only:
 * the kernel's own checks of /proc/sys compare only user ids. */
#define VIEW_MASKED                                                                                                    \
	"/proc/kcore", "/proc/key-users", "/proc/keys", "/proc/sched_debug", "/proc/timer_list", "/proc/timer_stats"

#endif
