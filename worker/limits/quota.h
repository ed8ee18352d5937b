/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LIMITS_QUOTA_H
#define WORKER_LIMITS_QUOTA_H

/*
 * Hard limits of the disk use of jobs, by project quotas of the filesystem (ext4, XFS).
 *
 * Only root may set a project's limits. So a worker that is started by root sets them before it becomes its account:
 * the same limit for each of QUOTA_IDS projects. The limits stay in the filesystem. The worker gives each job's folder
 * two of these projects: one for the job's own folder, and one for the state's folder below it. So an engine can write
 * its state when the rest is full. New files inherit the project of their folder. A job can't change the project,
 * because the kernel refuses that to every process in a user namespace.
 *
 * The first project id is 1073741824 + 4096 * (inode number of the data directory modulo 262144): workers that share a
 * filesystem have different data directories.
 */

#include <stdint.h>

struct dqblk;
struct err;
struct fsxattr;
struct statfs;

enum { QUOTA_IDS = 4096 };

/* Kernel calls; each returns -1 with errno. */
struct quota_kernel {
	int (*quota)(int fd, int command, uint32_t id, struct dqblk *limits);         /* Q_GETQUOTA, Q_SETQUOTA */
	int (*attributes)(int fd, unsigned long request, struct fsxattr *attributes); /* FS_IOC_FS?ETXATTR */
	int (*space)(int fd, struct statfs *ret_space);
};

extern const struct quota_kernel quota_kernel;

/* The projects of one worker. */
struct quota {
	const struct quota_kernel *kernel;
	uint32_t first;
	int jobs; /* descriptor of the folder with the job folders; borrowed */
};

/* The first project id for a data directory with that inode number. */
uint32_t quota_first(uint64_t inode);
/* Sets the limits, in bytes, of the projects of a data directory. Needs root. ERR_UNAVAILABLE with the reason if the
 * filesystem has no project quota, or another program uses one of the projects. No limit is changed then. */
int quota_set(const struct quota_kernel *kernel, const char *data_dir, int64_t bytes, struct err *err);
/* Fills *quota, whose `kernel` and `jobs` must be set, if the kernel enforces exactly that limit for folders in
 * `jobs`. Otherwise ERR_UNAVAILABLE with the reason. */
int quota_open(struct quota *quota, const char *data_dir, int64_t bytes, struct err *err);

/* Marks a job's folder, which is in `jobs` and empty, with the first of two projects that no other folder there
 * uses. New files in it do not inherit the mark. ERR_UNAVAILABLE. */
int quota_take(const struct quota *quota, int folder, uint32_t *ret_id, struct err *err);
/* Assigns an empty folder and all files that are made in it later to a project. -1 with errno. */
int quota_give(const struct quota *quota, int folder, uint32_t id);
/* Moves a file to the project of a folder before the file is moved into it: its bytes no longer count for a job. */
void quota_follow(const struct quota_kernel *kernel, int file, int folder);

#endif
