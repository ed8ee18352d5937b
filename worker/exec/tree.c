/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"

enum { LEVELS_OPEN = 32 }; /* the uppermost levels keep their descriptors */

struct level {
	DIR *list;   /* NULL below LEVELS_OPEN while a folder of it is walked */
	long offset; /* position of the next entry, for reopening */
	dev_t device;
	ino_t inode;
};

struct walk {
	struct level *levels;
	size_t count, room;
	bool removes;
};

/* ---- opening a folder ---- */

/* chmod without following a link, which fchmodat can't do before Linux 6.6. */
static int permit(int parent, const char *name)
{
	_cleanup_(closep) int fd = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char link[32];

	if (fd < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return chmod(link, 0700);
}

static DIR *folder_open(int parent, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(parent, name, flags);
	DIR *list;

	if (fd < 0 && errno == EACCES && permit(parent, name) == 0)
		fd = openat(parent, name, flags);
	list = fd >= 0 ? fdopendir(fd) : NULL;
	if (fd >= 0 && !list)
		close(fd);
	return list;
}

/* ---- the path to the current folder ---- */

static void level_close(struct level *level)
{
	if (level->list)
		closedir(level->list);
	level->list = NULL;
}

static void walk_release(struct walk *walk)
{
	while (walk->count > 0)
		level_close(&walk->levels[--walk->count]);
	free(walk->levels);
}

static int walk_enter(struct walk *walk, int parent, const char *name)
{
	struct level level = {.list = folder_open(parent, name)};
	struct stat info;

	if (!level.list)
		return -1;
	if (fstat(dirfd(level.list), &info) < 0) {
		level_close(&level);
		return -1;
	}
	if ((info.st_mode & 0700) != 0700)
		fchmod(dirfd(level.list), (info.st_mode & 07777) | 0700);
	level.device = info.st_dev;
	level.inode = info.st_ino;
	if (walk->count > LEVELS_OPEN) {
		struct level *above = &walk->levels[walk->count - 1];

		above->offset = telldir(above->list);
		level_close(above);
	}
	if (walk->count == walk->room) {
		walk->room = walk->room ? walk->room * 2 : LEVELS_OPEN;
		walk->levels = mem_resize(walk->levels, walk->room, sizeof(*walk->levels));
	}
	walk->levels[walk->count++] = level;
	return 0;
}

/* Reopens a level through the folder below it. -1 if that folder has moved meanwhile. */
static int level_reopen(struct level *level, int below)
{
	DIR *list = folder_open(below, "..");
	struct stat info;

	if (!list)
		return -1;
	if (fstat(dirfd(list), &info) < 0 || info.st_dev != level->device || info.st_ino != level->inode) {
		closedir(list);
		errno = ESTALE;
		return -1;
	}
	level->list = list;
	seekdir(list, level->offset);
	return 0;
}

static int walk_leave(struct walk *walk)
{
	struct level left = walk->levels[--walk->count];
	struct level *above = walk->count > 0 ? &walk->levels[walk->count - 1] : NULL;
	int status = 0;

	if (above && !above->list && level_reopen(above, dirfd(left.list)) < 0) {
		status = -1;
		while (!walk->levels[walk->count - 1].list)
			walk->count--;
	}
	level_close(&left);
	if (above && status == 0 && walk->removes)
		rewinddir(above->list);
	return walk->removes ? status : 0;
}

/* ---- the walk ---- */

static bool is_dots(const char *name)
{
	return text_equal(name, ".") || text_equal(name, "..");
}

int tree_walk(int parent, const char *name, const struct tree_visit *visit)
{
	_cleanup_(walk_release) struct walk walk = {.removes = visit->removes};
	int status = walk_enter(&walk, parent, name);

	while (status == 0 && walk.count > 0) {
		DIR *list = walk.levels[walk.count - 1].list;
		struct dirent *entry = readdir(list);
		enum tree_step step;

		if (!entry) {
			status = walk_leave(&walk);
			continue;
		}
		if (is_dots(entry->d_name))
			continue;
		step = visit->entry(visit->data, dirfd(list), entry->d_name);
		if (step == TREE_STOP)
			return visit->removes ? -1 : 0;
		if (step == TREE_ENTER && walk_enter(&walk, dirfd(list), entry->d_name) < 0 && visit->removes)
			status = -1;
	}
	return status;
}
