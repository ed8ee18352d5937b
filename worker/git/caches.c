/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/caches.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/loop/loop.h"
#include "worker/exec/beneath.h"
#include "worker/limits/measure.h"

enum { MAX_CACHES = 10000 };

/* A trim may remove the folder between its opening and its locking. */
int cache_lock(int caches, const char *name, int *ret_lock, struct err *err)
{
	for (;;) {
		_cleanup_(closep) int fd = -1;
		struct stat info;

		if ((mkdirat(caches, name, 0700) < 0 && errno != EEXIST) ||
			(fd = beneath_open(caches, name, O_RDONLY | O_DIRECTORY, 0)) < 0 || flock(fd, LOCK_EX) < 0 ||
			fstat(fd, &info) < 0)
			return err_errno(err, name);
		if (info.st_nlink == 0)
			continue;
		futimens(fd, NULL); /* it is used now */
		*ret_lock = fd;
		fd = -1;
		return 0;
	}
}

/* ---- the trim ---- */

struct cache {
	char *name;
	int64_t bytes;
	struct timespec used;
};

struct caches {
	struct cache *items;
	size_t count;
};

static void caches_release(struct caches *caches)
{
	for (size_t i = 0; i < caches->count; i++)
		free(caches->items[i].name);
	free(caches->items);
}

static int by_use(const void *a, const void *b)
{
	const struct timespec *x = &((const struct cache *)a)->used, *y = &((const struct cache *)b)->used;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec < y->tv_sec ? -1 : 1;
	return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

static void cache_measure(const struct cache_trim *trim, const char *name, struct caches *caches)
{
	_cleanup_(closep) int fd = beneath_open(trim->caches, name, O_RDONLY | O_DIRECTORY, 0);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return;
	caches->items = mem_resize(caches->items, caches->count + 1, sizeof(struct cache));
	caches->items[caches->count++] =
		(struct cache){mem_text(name), measure_folder(fd, trim->max_bytes), info.st_mtim};
}

static void caches_list(const struct cache_trim *trim, struct caches *caches)
{
	_cleanup_(list_closep) DIR *list = beneath_list(trim->caches, ".");
	const char *name;

	while (list && caches->count < MAX_CACHES && (name = list_next(list)))
		cache_measure(trim, name, caches);
}

static bool cache_remove(const struct cache_trim *trim, const char *name)
{
	_cleanup_(closep) int fd = beneath_open(trim->caches, name, O_RDONLY | O_DIRECTORY, 0);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && beneath_remove(trim->caches, name) == 0;
}

static void trim_work(void *data)
{
	const struct cache_trim *trim = data;
	_cleanup_(caches_release) struct caches caches = {.items = NULL};
	int64_t bytes = 0;

	caches_list(trim, &caches);
	for (size_t i = 0; i < caches.count; i++)
		bytes += caches.items[i].bytes;
	if (caches.count)
		qsort(caches.items, caches.count, sizeof(struct cache), by_use);
	for (size_t i = 0; i < caches.count && bytes > trim->max_bytes; i++)
		if (cache_remove(trim, caches.items[i].name))
			bytes -= caches.items[i].bytes;
}

static void trim_done(void *data)
{
	struct cache_trim *trim = data;
	bool again = trim->again;

	trim->running = trim->again = false;
	if (again)
		cache_trim(trim);
}

void cache_trim(struct cache_trim *trim)
{
	trim->again = trim->running;
	if (trim->running)
		return;
	trim->running = true;
	loop_work(trim->loop, trim_work, trim_done, trim);
}
