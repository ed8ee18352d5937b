/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/limits/quota.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/quota.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"

enum { IDS_OF_A_JOB = 2, BLOCK = 1024, ENTRY_BYTES = 512 };

static const uint32_t lowest_id = 1U << 30, data_dirs = 1U << 18;
static const char probe[] = ".quota";

/* ---- the kernel ---- */

static int call_quota(int fd, int command, uint32_t id, struct dqblk *limits)
{
	return (int)syscall(SYS_quotactl_fd, fd, QCMD((unsigned)command, PRJQUOTA), id, limits);
}

static int call_attributes(int fd, unsigned long request, struct fsxattr *attributes)
{
	return ioctl(fd, request, attributes);
}

const struct quota_kernel quota_kernel = {.quota = call_quota, .attributes = call_attributes, .space = fstatfs};

/* ---- the limits ---- */

uint32_t quota_first(uint64_t inode)
{
	return lowest_id + (uint32_t)(inode % data_dirs) * QUOTA_IDS;
}

static int first_of(int folder, uint32_t *ret_first)
{
	struct stat info;

	if (fstat(folder, &info) < 0)
		return -1;
	*ret_first = quota_first(info.st_ino);
	return 0;
}

/* True if another program uses this project. An earlier start of this worker leaves hard limits only. */
static bool is_foreign(const struct dqblk *found)
{
	bool limited = found->dqb_bhardlimit > 0, used = found->dqb_curspace > 0 || found->dqb_curinodes > 0;

	return found->dqb_bsoftlimit > 0 || found->dqb_isoftlimit > 0 || (used && !limited);
}

static int check_free(const struct quota_kernel *kernel, int folder, uint32_t id, struct err *err)
{
	struct dqblk found = {0};

	if (kernel->quota(folder, Q_GETQUOTA, id, &found) < 0 && errno != ENOENT)
		return err_set(err, ERR_UNAVAILABLE, "the filesystem has no project quota: %s", strerror(errno));
	if (is_foreign(&found))
		return err_set(err, ERR_UNAVAILABLE, "another program uses project %u of the filesystem", id);
	return 0;
}

int quota_set(const struct quota_kernel *kernel, const char *data_dir, int64_t bytes, struct err *err)
{
	_cleanup_(closep) int folder = open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dqblk limits = {.dqb_bhardlimit = (uint64_t)bytes / BLOCK,
		.dqb_ihardlimit = (uint64_t)bytes / ENTRY_BYTES,
		.dqb_valid = QIF_LIMITS};
	uint32_t first;

	if (folder < 0 || first_of(folder, &first) < 0)
		return err_errno(err, data_dir);
	for (uint32_t i = 0; i < QUOTA_IDS; i++)
		if (check_free(kernel, folder, first + i, err) < 0)
			return -1;
	/* The first project comes last: if it has its limit, all have theirs (quota_open). */
	for (uint32_t i = QUOTA_IDS; i-- > 0;)
		if (kernel->quota(folder, Q_SETQUOTA, first + i, &limits) < 0)
			return err_set(err, ERR_UNAVAILABLE, "the limit of project %u can't be set: %s", first + i,
				strerror(errno));
	return 0;
}

/* ---- projects of folders ---- */

/* The project of a file or folder; 0 if it has none or the filesystem has no projects. */
static uint32_t id_of(const struct quota_kernel *kernel, int fd)
{
	struct fsxattr attributes = {0};

	return kernel->attributes(fd, FS_IOC_FSGETXATTR, &attributes) < 0 ? 0 : attributes.fsx_projid;
}

static int id_set(const struct quota_kernel *kernel, int fd, uint32_t id, bool inherited)
{
	struct fsxattr attributes = {0};

	if (kernel->attributes(fd, FS_IOC_FSGETXATTR, &attributes) < 0)
		return -1;
	attributes.fsx_projid = id;
	attributes.fsx_xflags &= ~(uint32_t)FS_XFLAG_PROJINHERIT;
	attributes.fsx_xflags |= inherited ? FS_XFLAG_PROJINHERIT : 0;
	return kernel->attributes(fd, FS_IOC_FSSETXATTR, &attributes);
}

int quota_give(const struct quota *quota, int folder, uint32_t id)
{
	return id_set(quota->kernel, folder, id, true);
}

void quota_follow(const struct quota_kernel *kernel, int file, int folder)
{
	uint32_t id = id_of(kernel, folder);

	if (id_of(kernel, file) != id)
		id_set(kernel, file, id, false);
}

/* ---- the projects that are in use ---- */

static int taken_find(const struct quota *quota, bool taken[QUOTA_IDS])
{
	_cleanup_(list_closep) DIR *list = beneath_list(quota->jobs, ".");
	const char *name;

	if (!list)
		return -1;
	while ((name = list_next(list))) {
		_cleanup_(closep) int folder = beneath_open(quota->jobs, name, O_RDONLY | O_DIRECTORY, 0);
		uint32_t at = folder < 0 ? QUOTA_IDS : id_of(quota->kernel, folder) - quota->first;

		if (at < QUOTA_IDS)
			taken[at] = true;
	}
	return 0;
}

int quota_take(const struct quota *quota, int folder, uint32_t *ret_id, struct err *err)
{
	bool taken[QUOTA_IDS] = {false};
	uint32_t at = 0;

	if (taken_find(quota, taken) < 0)
		return err_errno(err, "the folder of job folders");
	while (at < QUOTA_IDS && taken[at])
		at += IDS_OF_A_JOB;
	if (at >= QUOTA_IDS)
		return err_set(err, ERR_UNAVAILABLE,
			"all projects of the disk quota are in use: remove folders of ended jobs");
	*ret_id = quota->first + at;
	return id_set(quota->kernel, folder, *ret_id, false) < 0 ? err_errno(err, "the job's disk quota") : 0;
}

/* ---- the enforced limit ---- */

/* Checks the limit by statfs: the space of a folder is its project's limit, if it has one. */
static int probe_check(const struct quota *quota, int folder, int64_t bytes, struct err *err)
{
	struct statfs space;

	if (quota_give(quota, folder, quota->first) < 0)
		return err_set(err, ERR_UNAVAILABLE, "a folder can't be given to a project: %s", strerror(errno));
	if (quota->kernel->space(folder, &space) < 0)
		return err_errno(err, probe);
	if ((int64_t)space.f_blocks * space.f_bsize != bytes)
		return err_set(err, ERR_UNAVAILABLE,
			"project %u of the filesystem has no limit of %lld bytes, or the kernel does not enforce it",
			quota->first, (long long)bytes);
	return 0;
}

int quota_open(struct quota *quota, const char *data_dir, int64_t bytes, struct err *err)
{
	_cleanup_(closep) int data = open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(closep) int folder = -1;
	int status;

	if (data < 0 || first_of(data, &quota->first) < 0)
		return err_errno(err, data_dir);
	if (id_of(quota->kernel, quota->jobs) != 0)
		return err_set(err, ERR_UNAVAILABLE, "%s/jobs belongs to a project already", data_dir);
	if (beneath_remove(quota->jobs, probe) < 0 || mkdirat(quota->jobs, probe, 0700) < 0 ||
		(folder = beneath_open(quota->jobs, probe, O_RDONLY | O_DIRECTORY, 0)) < 0)
		return err_errno(err, data_dir);
	status = probe_check(quota, folder, bytes, err);
	beneath_remove(quota->jobs, probe);
	return status;
}
