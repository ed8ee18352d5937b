/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/keeper/proc_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* At most this many processes are visited; the rest is left for the next call. */
enum { MAX_PIDS = 32 * 1024 };

struct pids {
	pid_t *items;
	size_t count;
};

bool proc_tree_can_be_seen(void)
{
	return access("/proc/thread-self/children", R_OK) == 0;
}

/* Parses "12 34 56 ", of any length. */
static void children_read(int fd, struct pids *pids)
{
	char chunk[4096];
	pid_t pid = 0;
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		for (ssize_t i = 0; i < got; i++) {
			if (chunk[i] >= '0' && chunk[i] <= '9') {
				pid = pid * 10 + (chunk[i] - '0');
				continue;
			}
			if (pid > 0 && pids->count < MAX_PIDS)
				pids->items[pids->count++] = pid;
			pid = 0;
		}
	}
}

static void children_add(pid_t pid, struct pids *pids)
{
	char path[64];
	DIR *tasks;
	struct dirent *task;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (task = readdir(tasks))) {
		char *end;
		long thread = strtol(task->d_name, &end, 10);
		int fd;

		if (thread <= 0 || *end)
			continue;
		snprintf(path, sizeof(path), "%ld/children", thread);
		fd = openat(dirfd(tasks), path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		children_read(fd, pids);
		close(fd);
	}
	if (tasks)
		closedir(tasks);
}

static void visit(pid_t pid, bool all, void (*fn)(void *data, pid_t pid), void *data)
{
	struct pids pids = {.items = malloc(MAX_PIDS * sizeof(pid_t))};

	if (!pids.items)
		return;
	children_add(pid, &pids);
	for (size_t i = 0; i < pids.count; i++) {
		if (all)
			children_add(pids.items[i], &pids);
		fn(data, pids.items[i]);
	}
	free(pids.items);
}

void proc_tree_each(pid_t pid, void (*fn)(void *data, pid_t pid), void *data)
{
	visit(pid, true, fn, data);
}

void proc_tree_children(pid_t pid, void (*fn)(void *data, pid_t pid), void *data)
{
	visit(pid, false, fn, data);
}

static void kill_one(void *data, pid_t pid)
{
	(void)data;
	kill(pid, SIGKILL);
}

void proc_tree_kill(pid_t pid)
{
	proc_tree_each(pid, kill_one, NULL);
}

/* ---- signal handlers ---- */

enum { STATUS_SIZE = 8192 };

/* Reads /proc/PID/status. False if the process is gone. */
static bool status_read(pid_t pid, char ret_text[STATUS_SIZE])
{
	char path[64];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = read(fd, ret_text, STATUS_SIZE - 1);
	close(fd);
	ret_text[len > 0 ? len : 0] = '\0';
	return true;
}

struct handling {
	int signal;
	bool found;
};

/* Reads the line "SigCgt:" of /proc/PID/status, a hexadecimal mask whose bit 0 is signal 1. */
static void handles_one(void *data, pid_t pid)
{
	static const char name[] = "\nSigCgt:";
	struct handling *handling = data;
	char text[STATUS_SIZE];
	const char *mask;

	if (!status_read(pid, text))
		return;
	mask = strstr(text, name);
	if (mask && strtoull(mask + strlen(name), NULL, 16) >> (handling->signal - 1) & 1)
		handling->found = true;
}

bool proc_tree_handles(pid_t pid, int signal)
{
	struct handling handling = {.signal = signal};

	proc_tree_each(pid, handles_one, &handling);
	return handling.found;
}

/* ---- resource use ---- */

/* An unnamed file that a process has open, or a file system in memory (inode 0). */
struct held {
	dev_t device;
	ino_t inode;
	int64_t bytes;
	bool memory, disk; /* how it is counted */
};

struct look {
	struct proc_tree_use use;
	struct held *held;
	size_t count, room;
	size_t descriptors; /* read so far */
	dev_t disk, own_tmp;
	bool sandbox_seen; /* the processes of one program share one sandbox, so one look is enough */
};

static void held_add(struct look *look, const struct held *held)
{
	size_t room = look->room ? look->room * 2 : 64;
	struct held *more = look->count < look->room ? look->held : realloc(look->held, room * sizeof(*more));

	if (!more)
		return;
	look->room = look->count < look->room ? look->room : room;
	look->held = more;
	look->held[look->count++] = *held;
}

static bool is_memory(const struct statfs *system)
{
	return system->f_type == TMPFS_MAGIC || system->f_type == RAMFS_MAGIC || system->f_type == HUGETLBFS_MAGIC;
}

static void descriptor_look(struct look *look, pid_t pid, int folder, const char *name)
{
	struct stat info;
	struct statfs system;
	char path[64];
	bool memory;

	if (fstatat(folder, name, &info, 0) < 0 || !S_ISREG(info.st_mode) || info.st_nlink > 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%.16s", pid, name);
	if (statfs(path, &system) < 0)
		return;
	memory = is_memory(&system);
	held_add(look,
		&(struct held){.device = info.st_dev,
			.inode = info.st_ino,
			.bytes = (int64_t)info.st_blocks * 512,
			.memory = memory,
			.disk = !memory || info.st_dev == look->disk});
}

static void descriptors_look(struct look *look, pid_t pid)
{
	char path[64];
	DIR *list;
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	list = opendir(path);
	while (list && look->descriptors < PROC_TREE_DESCRIPTORS && (entry = readdir(list))) {
		look->descriptors++;
		if (entry->d_name[0] != '.')
			descriptor_look(look, pid, dirfd(list), entry->d_name);
	}
	if (list)
		closedir(list);
}

/* Adds the file system at `folder`, unless it is not in memory or is this process's own. */
static bool tmpfs_look(struct look *look, pid_t pid, const char *folder)
{
	struct stat info;
	struct statfs system;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, folder);
	if (stat(path, &info) < 0 || info.st_dev == look->own_tmp || statfs(path, &system) < 0 || !is_memory(&system))
		return false;
	held_add(look,
		&(struct held){.device = info.st_dev,
			.bytes = (int64_t)(system.f_blocks - system.f_bfree) * system.f_bsize,
			.memory = true});
	return true;
}

/* Parses "\nRssAnon:     1234 kB". */
static int64_t status_bytes(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoll(at + strlen(name), NULL, 10) * 1024 : 0;
}

static void use_add(void *data, pid_t pid)
{
	struct look *look = data;
	char text[STATUS_SIZE];

	if (!status_read(pid, text))
		return;
	look->use.processes++;
	look->use.memory +=
		status_bytes(text, "\nRssAnon:") + status_bytes(text, "\nRssShmem:") + status_bytes(text, "\nVmSwap:");
	descriptors_look(look, pid);
	if (!look->sandbox_seen && tmpfs_look(look, pid, "/tmp")) {
		tmpfs_look(look, pid, "/dev/shm");
		look->sandbox_seen = true;
	}
}

static int held_order(const void *a, const void *b)
{
	const struct held *one = a, *other = b;

	if (one->device != other->device)
		return one->device < other->device ? -1 : 1;
	return one->inode < other->inode ? -1 : one->inode > other->inode;
}

/* Sums each file once. A file system that is counted as a whole includes its deleted files. Its own entry sorts
 * first, because its inode is 0. */
static void held_sum(struct look *look)
{
	const struct held *system = NULL, *before = NULL;

	qsort(look->held, look->count, sizeof(*look->held), held_order);
	for (const struct held *at = look->held; at < look->held + look->count; before = at++) {
		if (!at->inode && !(before && held_order(before, at) == 0))
			system = at;
		else if ((system && system->device == at->device) || (before && held_order(before, at) == 0))
			continue;
		look->use.memory += at->memory ? at->bytes : 0;
		look->use.deleted += at->disk ? at->bytes : 0;
	}
}

struct proc_tree_use proc_tree_use(pid_t pid, dev_t disk)
{
	struct look look = {.disk = disk};
	struct stat tmp;

	if (stat("/tmp", &tmp) == 0)
		look.own_tmp = tmp.st_dev;
	proc_tree_each(pid, use_add, &look);
	if (look.count > 0)
		held_sum(&look);
	free(look.held);
	return look.use;
}
