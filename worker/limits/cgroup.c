/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/limits/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"

enum { FILE_LIMIT = 64 * 1024 };

static const char job_prefix[] = "job-";

/* ---- files of a group ---- */

static int file_write(const char *folder, const char *name, const char *text)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, name);
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);

	return fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -1;
}

static int file_write_number(const char *folder, const char *name, int64_t number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)number);
	return file_write(folder, name, text);
}

/* The number after a key: "oom_kill 3\n". 0 if the key is missing. */
static long long event_count(const char *folder, const char *name, const char *key)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, name);
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	size_t len = strlen(key);
	struct err err = ERR_INIT;
	const char *line;

	if (buf_read_file(&text, path, &err) < 0)
		return 0;
	for (line = buf_str(&text); line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
		if (strncmp(line, key, len) == 0 && line[len] == ' ')
			return strtoll(line + len, NULL, 10);
	return 0;
}

/* ---- the worker's group ---- */

/* The path after "0::", to be freed, or NULL. */
static char *group_of(const char *file)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	struct err err = ERR_INIT;
	char *line, *rest;

	if (buf_read_file(&text, file, &err) < 0)
		return NULL;
	for (rest = text.data; (line = strsep(&rest, "\n"));)
		if (text_starts(line, "0::/"))
			return mem_text(line + strlen("0::"));
	return NULL;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *at = words;

	while ((at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' ' || at[len] == '\n'))
			return true;
		at += len;
	}
	return false;
}

static bool has_controllers(const char *folder)
{
	_cleanup_(freep) char *path = mem_printf("%s/cgroup.controllers", folder);
	_cleanup_(buf_release) struct buf words = BUF_INIT(FILE_LIMIT);
	struct err err = ERR_INIT;

	return buf_read_file(&words, path, &err) == 0 && has_word(buf_str(&words), "memory") &&
		has_word(buf_str(&words), "pids");
}

static void remove_empty(const char *folder)
{
	DIR *list = opendir(folder);
	struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (text_starts(entry->d_name, job_prefix))
			unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
	if (list)
		closedir(list);
}

bool cgroup_is_mounted(const char *root)
{
	struct statfs system;

	return statfs(root, &system) == 0 && system.f_type == CGROUP2_SUPER_MAGIC;
}

char *cgroup_open(const struct cgroup_place *place, struct err *err)
{
	_cleanup_(freep) char *group = group_of(place->self);
	_cleanup_(freep) char *folder = mem_printf("%s%s", place->root, group && group[1] ? group : "");
	_cleanup_(freep) char *own = mem_printf("%s/worker", folder);
	char *opened = folder;

	if (!group || !has_controllers(folder)) {
		err_set(err, ERR_UNAVAILABLE, "the controllers memory and pids of cgroup v2 are not delegated");
		return NULL;
	}
	if ((mkdir(own, 0755) < 0 && errno != EEXIST) || file_write(own, "cgroup.procs", "0") < 0 ||
		file_write(folder, "cgroup.subtree_control", "+memory +pids") < 0) {
		err_set(err, ERR_UNAVAILABLE, "%s is not delegated to this worker alone: %s", folder, strerror(errno));
		return NULL;
	}
	remove_empty(folder);
	folder = NULL;
	return opened;
}

/* ---- a job's group ---- */

static int limits_write(const char *path, const struct cgroup_limits *limits)
{
	if (limits->memory > 0 && file_write_number(path, "memory.max", limits->memory) < 0)
		return -1;
	/* A kernel without swap accounting has no such file. */
	if (limits->memory > 0 && file_write(path, "memory.swap.max", "0") < 0 && errno != ENOENT)
		return -1;
	return limits->processes > 0 ? file_write_number(path, "pids.max", limits->processes) : 0;
}

char *cgroup_make(const char *folder, const char *name, const struct cgroup_limits *limits, struct err *err)
{
	char *path = mem_printf("%s/%s%s", folder, job_prefix, name);

	if ((mkdir(path, 0755) < 0 && errno != EEXIST) || limits_write(path, limits) < 0) {
		err_errno(err, path);
		cgroup_end(path);
		return NULL;
	}
	return path;
}

void cgroup_end_earlier(const char *folder, const char *name)
{
	_cleanup_(freep) char *path = folder ? mem_printf("%s/%s%s", folder, job_prefix, name) : NULL;

	if (!path || access(path, F_OK) < 0)
		return;
	cgroup_end(path);
	path = NULL;
}

bool cgroup_met_memory(const char *path)
{
	return event_count(path, "memory.events", "oom") > 0 && event_count(path, "memory.events", "oom_kill") > 0;
}

/* The kernel counts oom_kill where the process was, and oom where the limit is. */
bool cgroup_lacked_memory(const char *path)
{
	return event_count(path, "memory.events", "oom") == 0 && event_count(path, "memory.events", "oom_kill") > 0;
}

bool cgroup_met_processes(const char *path)
{
	return event_count(path, "pids.events", "max") > 0;
}

void cgroup_end(char *path)
{
	if (!path)
		return;
	file_write(path, "cgroup.kill", "1"); /* needs Linux 5.14; the keeper has already killed the processes */
	rmdir(path);
	free(path);
}
