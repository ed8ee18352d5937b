/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_KEEPER_KIN_H
#define WORKER_KEEPER_KIN_H

/* The processes below a process: its children, theirs, and so on, in whatever session, group or namespace they are.
 * Read from /proc/PID/task/TID/children (CONFIG_PROC_CHILDREN). Needs nothing but libc: runyard-keeper is small. */

#include <stdbool.h>
#include <stdint.h>

#include <sys/types.h>

struct kin_use {
	int64_t processes;
	int64_t memory;  /* bytes: anonymous and shared memory, what is swapped, and files in memory */
	int64_t deleted; /* bytes of disk: files that are open and have no name any more */
};

/* True if this kernel tells of a process's children. */
bool kin_can_be_seen(void);
/* Calls fn for the processes below `pid`, parents before children. `fn` may kill them: their children are known by
 * then. Those that come meanwhile may be missed. */
void kin_each(pid_t pid, void (*fn)(void *data, pid_t pid), void *data);
/* Calls fn for the children alone. */
void kin_children(pid_t pid, void (*fn)(void *data, pid_t pid), void *data);
/* SIGKILL to all below. To be repeated until none is left, since they may be making new ones. */
void kin_kill(pid_t pid);
/* True if a process below has a handler for the signal. */
bool kin_handles(pid_t pid, int signal);
/* What all below use. Files without a name on the device `disk` (0: none) count as disk, also if it is in memory. Files
 * in memory are those without a name that a process has open (memfd_create), and those of a /tmp and /dev/shm that this
 * process does not share. Each file counts once, and again where a process maps it. At most KIN_DESCRIPTORS descriptors
 * are read, in about 50 ms. */
enum { KIN_DESCRIPTORS = 32 * 1024 };
struct kin_use kin_use(pid_t pid, dev_t disk);

#endif
