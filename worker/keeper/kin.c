/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/keeper/kin.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More than these are left for the next time. */
enum { MOST = 32 * 1024 };

struct pids {
	pid_t *items;
	size_t count;
};

bool kin_can_be_seen(void)
{
	return access("/proc/thread-self/children", R_OK) == 0;
}

/* "12 34 56 ", of any length. */
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
			if (pid > 0 && pids->count < MOST)
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
	struct pids pids = {.items = malloc(MOST * sizeof(pid_t))};

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

void kin_each(pid_t pid, void (*fn)(void *data, pid_t pid), void *data)
{
	visit(pid, true, fn, data);
}

void kin_children(pid_t pid, void (*fn)(void *data, pid_t pid), void *data)
{
	visit(pid, false, fn, data);
}

static void kill_one(void *data, pid_t pid)
{
	(void)data;
	kill(pid, SIGKILL);
}

void kin_kill(pid_t pid)
{
	kin_each(pid, kill_one, NULL);
}

/* ---- what they use ---- */

/* "\nRssAnon:	    1234 kB" */
static int64_t status_bytes(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? strtoll(at + strlen(name), NULL, 10) * 1024 : 0;
}

static void use_add(void *data, pid_t pid)
{
	struct kin_use *use = data;
	char path[64], text[8192];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	len = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[len > 0 ? len : 0] = '\0';
	use->processes++;
	use->memory +=
		status_bytes(text, "\nRssAnon:") + status_bytes(text, "\nRssShmem:") + status_bytes(text, "\nVmSwap:");
}

struct kin_use kin_use(pid_t pid)
{
	struct kin_use use = {0};

	kin_each(pid, use_add, &use);
	return use;
}
