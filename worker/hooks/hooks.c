/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/hooks/hooks.h"

#include <errno.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"

#define FILE_PREFIX "terraform-"

static const char *const files[HOOK_COUNT] = {
	[HOOK_PRE_PLAN] = FILE_PREFIX "pre-plan",
	[HOOK_POST_PLAN] = FILE_PREFIX "post-plan",
	[HOOK_PRE_APPLY] = FILE_PREFIX "pre-apply",
	[HOOK_POST_APPLY] = FILE_PREFIX "post-apply",
};

const char *hook_file(enum hook_kind kind)
{
	return files[kind];
}

const char *hook_name(enum hook_kind kind)
{
	return files[kind] + strlen(FILE_PREFIX);
}

/* ---- checks ---- */

/* Whether others than root and the worker's account may change the file, or the entries of the folder. In a folder
 * with the sticky bit they can't replace what is not theirs. A read-only mount of this process proves nothing. */
static bool others_may_write(const struct stat *info)
{
	bool owned = info->st_uid == 0 || info->st_uid == geteuid();
	bool kept = S_ISDIR(info->st_mode) && info->st_mode & S_ISVTX;

	return !owned || (info->st_mode & (S_IWGRP | S_IWOTH) && !kept);
}

/* Checks the file and all folders above it. `path` is absolute and has no links. */
static int writers_check(const char *path, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(path);
	char *at = copy;
	struct stat info;

	for (;;) {
		if (stat(at, &info) < 0)
			return err_set(err, ERR_INVALID, "%s: %s", at, strerror(errno));
		if (others_may_write(&info))
			return err_set(err, ERR_INVALID,
				"others than root and the worker's account may write %s: give it to root, and take "
				"the right from group and others (chmod go-w)",
				at);
		if (text_equal(at, "/"))
			return 0;
		at = dirname(at);
	}
}

static int file_check(const char *path, struct err *err)
{
	_cleanup_(freep) char *real = realpath(path, NULL);
	struct stat info;

	if (!real || stat(real, &info) < 0)
		return err_set(err, ERR_INVALID, "%s can't be read: %s", path, strerror(errno));
	if (!S_ISREG(info.st_mode))
		return err_set(err, ERR_INVALID, "%s is no regular file", path);
	if (access(real, R_OK | X_OK) < 0)
		return err_set(err, ERR_INVALID,
			"%s is no program that the worker's account may read and execute (chmod a+rx)", path);
	return writers_check(real, err);
}

static char *path_of(const struct hooks *hooks, enum hook_kind kind)
{
	return mem_printf("%s/%s", hooks->folder, files[kind]);
}

int hook_check(const struct hooks *hooks, enum hook_kind kind, struct err *err)
{
	_cleanup_(freep) char *path = path_of(hooks, kind);

	return file_check(path, err);
}

/* ---- the folder ---- */

static int hook_find(struct hooks *hooks, enum hook_kind kind, struct err *err)
{
	_cleanup_(freep) char *path = path_of(hooks, kind);
	struct stat info;

	if (lstat(path, &info) < 0 && errno == ENOENT)
		return 0;
	hooks->present[kind] = true;
	return file_check(path, err);
}

int hooks_find(struct hooks *hooks, struct err *err)
{
	if (!*hooks->folder)
		return 0;
	if (writers_check(hooks->folder, err) < 0)
		return err_context(err, "--hooks-dir");
	for (int kind = 0; kind < HOOK_COUNT; kind++)
		if (hook_find(hooks, (enum hook_kind)kind, err) < 0)
			return err_context(err, "--hooks-dir");
	return 0;
}

char *hooks_text(const struct hooks *hooks)
{
	struct buf names = BUF_INIT(256);

	for (int kind = 0; kind < HOOK_COUNT; kind++)
		if (hooks->present[kind])
			buf_printf(&names, "%s%s", names.len ? ", " : "", hook_name((enum hook_kind)kind));
	if (!names.len)
		buf_text(&names, "none");
	return buf_take(&names);
}
