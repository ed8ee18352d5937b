/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/disk.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "common/log.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/git_source.h"
#include "worker/scheduler_client/job_source.h"

enum { LOOK_MS = 1000 };

struct disk {
	struct worker *worker;
	struct disk_space least;
	struct loop_timer timer;
	atomic_bool low;
};

/* ---- the decision ---- */

static bool is_less(int64_t available, int64_t least, bool was_low)
{
	return available < (was_low ? limits_quarter_more(least) : least);
}

bool disk_is_low(const struct disk_space *available, const struct disk_space *least, bool was_low)
{
	return is_less(available->bytes, least->bytes, was_low) || is_less(available->inodes, least->inodes, was_low);
}

/* ---- looking ---- */

/* Reads the free space. A filesystem that creates inodes on demand reports none in total. */
static int space_read(const char *path, struct disk_space *ret_space)
{
	struct statvfs info;

	if (statvfs(path, &info) < 0)
		return -1;
	ret_space->bytes = (int64_t)info.f_bavail * (int64_t)info.f_frsize;
	ret_space->inodes = info.f_files > 0 ? (int64_t)info.f_favail : INT64_MAX;
	return 0;
}

static void say(const struct disk *disk, bool low, const struct disk_space *space)
{
	const struct options *options = &disk->worker->options;
	char mib[32], inodes[32] = "unlimited";

	snprintf(mib, sizeof(mib), "%lld", (long long)(space->bytes >> 20));
	if (space->inodes < INT64_MAX)
		snprintf(inodes, sizeof(inodes), "%lld", (long long)space->inodes);
	if (low)
		log_warn("disk low: no jobs are claimed until there is room; make room, or lower --min-free-disk or "
			 "--min-free-inodes",
			"data-dir", options->data_dir, "free-mib", mib, "free-inodes", inodes, NULL);
	else
		log_info("disk has room again: jobs are claimed", "data-dir", options->data_dir, "free-mib", mib,
			"free-inodes", inodes, NULL);
}

static void low_set(struct disk *disk, bool low)
{
	atomic_store(&disk->low, low);
	metric_set(M_DISK_LOW, "", low);
	if (low) {
		job_source_stop(disk->worker->source);
		git_source_stop(disk->worker->git);
	} else {
		job_source_go_on(disk->worker->source);
		git_source_go_on(disk->worker->git);
	}
}

static void look(void *data)
{
	struct disk *disk = data;
	struct disk_space space;
	bool was_low = atomic_load(&disk->low), low;

	loop_timer_set(disk->worker->loop, &disk->timer, LOOK_MS, look, disk);
	if (space_read(disk->worker->options.data_dir, &space) < 0) {
		log_warn(
			"disk space unknown", "data-dir", disk->worker->options.data_dir, "why", strerror(errno), NULL);
		return;
	}
	metric_set(M_DISK_FREE_BYTES, "", (double)space.bytes);
	low = disk_is_low(&space, &disk->least, was_low);
	if (low == was_low)
		return;
	say(disk, low, &space);
	low_set(disk, low);
}

void disk_begin(struct worker *worker)
{
	const struct options *options = &worker->options;
	struct disk *disk = mem_new(1, sizeof(*disk));

	disk->worker = worker;
	disk->least = (struct disk_space){.bytes = options->min_free_disk << 20, .inodes = options->min_free_inodes};
	worker->disk = disk;
	metric_set(M_DISK_LOW, "", 0);
	look(disk);
}

void disk_free(struct disk *disk)
{
	if (!disk)
		return;
	loop_timer_clear(disk->worker->loop, &disk->timer);
	free(disk);
}

bool disk_low(const struct disk *disk)
{
	return atomic_load(&disk->low);
}
