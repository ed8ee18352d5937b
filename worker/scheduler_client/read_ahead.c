/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/read_ahead.h"

#include <string.h>

void read_ahead_init(struct read_ahead *ahead, int32_t partition)
{
	*ahead = (struct read_ahead){.partition = partition, .next = -1, .stored = -1};
}

void read_ahead_release(struct read_ahead *ahead)
{
	free(ahead->jobs);
	read_ahead_init(ahead, ahead->partition);
}

static void room_make(struct read_ahead *ahead)
{
	if (ahead->count < ahead->room)
		return;
	ahead->room = ahead->room ? ahead->room * 2 : 16;
	ahead->jobs = mem_resize(ahead->jobs, ahead->room, sizeof(*ahead->jobs));
}

void read_ahead_add(struct read_ahead *ahead, int64_t offset, const struct id *job)
{
	struct announced_job *added;

	if (offset < ahead->next) {
		ahead->count = 0;
		ahead->stored = -1; /* nothing is committed of the new partition */
	}
	room_make(ahead);
	added = &ahead->jobs[ahead->count++];
	*added = (struct announced_job){.offset = offset, .settled = !job};
	if (job)
		added->job = *job;
	ahead->next = offset + 1;
}

bool read_ahead_settle(struct read_ahead *ahead, const char *job)
{
	bool found = false;

	for (size_t i = 0; i < ahead->count; i++)
		if (!ahead->jobs[i].settled && text_equal(ahead->jobs[i].job.text, job))
			found = ahead->jobs[i].settled = true;
	return found;
}

bool read_ahead_position(struct read_ahead *ahead, int64_t *ret_position)
{
	size_t settled = 0;
	int64_t position;

	while (settled < ahead->count && ahead->jobs[settled].settled)
		settled++;
	ahead->count -= settled;
	if (settled)
		memmove(ahead->jobs, ahead->jobs + settled, ahead->count * sizeof(*ahead->jobs));
	position = ahead->count ? ahead->jobs[0].offset : ahead->next;
	if (position == ahead->stored)
		return false;
	ahead->stored = *ret_position = position;
	return true;
}

void read_ahead_list(const struct read_ahead *ahead, size_t max, json_t *jobs)
{
	for (size_t i = 0; i < ahead->count && i < max; i++)
		if (!ahead->jobs[i].settled)
			json_array_append_new(jobs, json_string(ahead->jobs[i].job.text));
}
