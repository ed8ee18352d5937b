/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_KEEPER_PROC_TREE_H
#define WORKER_KEEPER_PROC_TREE_H

/* The descendants of a process, in whatever session, group or namespace they are. Read from
 * /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN). Uses only libc, because runyard-keeper is small. */

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

struct proc_tree_use {
	int64_t processes;
	int64_t memory;  /* bytes: anonymous and shared memory, swap, and files in memory */
	int64_t deleted; /* bytes of disk: deleted files that are still open */
};

/* True if this kernel lists a process's children. */
bool proc_tree_can_be_seen(void);
/* Calls fn for all descendants of `pid`, parents before children. `fn` may kill them: their children have been read
 * by then. Processes that are created meanwhile may be missed. */
void proc_tree_each(pid_t pid, void (*fn)(void *data, pid_t pid), void *data);
/* Calls fn for the direct children only. */
void proc_tree_children(pid_t pid, void (*fn)(void *data, pid_t pid), void *data);
/* Sends SIGKILL to all descendants. Repeat until none is left, since they may create new ones. */
void proc_tree_kill(pid_t pid);
/* True if a descendant has a handler for the signal. */
bool proc_tree_handles(pid_t pid, int signal);
/* Resource use of all descendants.
 *
 *  - Deleted open files on the device `disk` (0: none) count as disk, even if that device is in memory.
 *  - Files in memory are unnamed files that a process has open (memfd_create), and the files of a /tmp and /dev/shm
 *    that this process does not share.
 *  - Each file counts once, and again where a process maps it.
 *  - At most PROC_TREE_DESCRIPTORS descriptors are read, in about 50 ms. */
enum { PROC_TREE_DESCRIPTORS = 32 * 1024 };
struct proc_tree_use proc_tree_use(pid_t pid, dev_t disk);

#endif
