/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_CGROUP_H
#define WORKER_EXEC_CGROUP_H

/*
 * Control groups (version 2) of jobs, where the worker's own group is delegated to it: it may make groups below, and
 * the controllers memory and pids are available there (systemd: Delegate=yes with User=; a container's own group).
 *
 * The worker moves to the group `worker` below its own, since a group with controlled groups holds no processes. Each
 * job gets a group `job-<name>`.
 */

#include <stdbool.h>
#include <stdint.h>

struct err;

/* The root of the hierarchy, and the file that names this process's group. */
struct cgroup_place {
	const char *root; /* "/sys/fs/cgroup" */
	const char *self; /* "/proc/self/cgroup" */
};

/* The kernel's bounds of one job. 0: none. */
struct cgroup_limits {
	int64_t memory; /* bytes, without swap */
	int64_t processes;
};

/* Prepares the worker's group and removes empty groups of earlier jobs. A keeper may still stop an engine in the others
 * (keeper/keeper.h): cgroup_end_earlier ends them. The folder's path, owned, or NULL with the reason in
 * *err: jobs then run without groups. */
char *cgroup_open(const struct cgroup_place *place, struct err *err);
/* True if that folder is a cgroup2 file system. */
bool cgroup_is_mounted(const char *root);

/* Makes a job's group: its path, owned, or NULL with *err filled. */
char *cgroup_make(const char *folder, const char *name, const struct cgroup_limits *limits, struct err *err);
/* True if the kernel killed a process of the group for want of memory, or refused it a process. */
bool cgroup_met_memory(const char *path);
bool cgroup_met_processes(const char *path);
/* Kills what is in the group and removes it. Takes the path; NULL is fine. */
void cgroup_end(char *path);
/* The same for the group of an earlier worker's job, if there is one. `folder` may be NULL. */
void cgroup_end_earlier(const char *folder, const char *name);

#endif
