/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LIMITS_CGROUP_H
#define WORKER_LIMITS_CGROUP_H

/*
 * Control groups (version 2) of jobs. They need a delegated group: the worker may make groups below its own, and the
 * controllers memory and pids are available there. Examples are systemd's Delegate=yes with User=, and a container's
 * own group.
 *
 * The worker moves itself to the group `worker` below its own, since a group with controlled subgroups can't hold
 * processes. Each job gets a group `job-<name>`.
 */

#include <stdbool.h>
#include <stdint.h>

struct err;

/* The root of the hierarchy, and the file that names this process's group. */
struct cgroup_place {
	const char *root; /* "/sys/fs/cgroup" */
	const char *self; /* "/proc/self/cgroup" */
};

/* Kernel limits of one job. 0: none. */
struct cgroup_limits {
	int64_t memory; /* bytes, without swap */
	int64_t processes;
};

/* Prepares the worker's group and removes empty groups of earlier jobs. A keeper may still stop an engine in the
 * other groups (keeper/keeper.h); cgroup_end_earlier ends those. Returns the folder's path, owned, or NULL with the
 * reason in *err. Jobs then run without groups. */
char *cgroup_open(const struct cgroup_place *place, struct err *err);
/* True if that folder is a cgroup2 file system. */
bool cgroup_is_mounted(const char *root);

/* Makes a job's group. Returns its path, owned, or NULL with *err filled. */
char *cgroup_make(const char *folder, const char *name, const struct cgroup_limits *limits, struct err *err);
/* True if the kernel killed a process of the group at its limit of memory, or refused it a new process. */
bool cgroup_met_memory(const char *path);
bool cgroup_met_processes(const char *path);
/* True if the kernel killed a process below that limit: the machine, or a group above, had no memory left. */
bool cgroup_lacked_memory(const char *path);
/* Kills the processes of the group and removes it. Takes the path; NULL is fine. */
void cgroup_end(char *path);
/* The same for the group of an earlier worker's job, if there is one. `folder` may be NULL. */
void cgroup_end_earlier(const char *folder, const char *name);

#endif
