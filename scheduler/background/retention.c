/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/retention.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "scheduler/background/assessments.h"
#include "scheduler/background/rescues.h"
#include "scheduler/background/retention.sql.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/blob_gc.h"
#include "scheduler/store/content/blob_offload.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/content/rescues.h"
#include "scheduler/store/explorer/explorer_index.h"
#include "scheduler/store/runs/unrecorded.h"
#include "scheduler/store/runs/unrecorded.sql.h"
#include "scheduler/store/states/state_settle.h"

enum { REST_MS = 100, LOOK_MS = 1000, MAX_LOST = 10 };

struct retention_thread {
	struct store store;
	struct objects *objects;
	struct expiry_limits limits;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
};

/* ---- the chores: each runs one batch, and says whether there may be more to do at once ---- */

static int sweep_unused_blobs(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (blob_gc_sweep(&keeper->store, &count, err) < 0)
		return -1;
	*ret_more = count == UNUSED_BLOBS_MAX;
	return 0;
}

static int settle_states(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (state_settle_due(&keeper->store, &count, err) < 0)
		return -1;
	*ret_more = count == SETTLE_MAX;
	return 0;
}

static int explore(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (explorer_index_due(&keeper->store, keeper->objects, &count, err) < 0)
		return -1;
	*ret_more = count == EXPLORER_INDEX_MAX;
	return 0;
}

static int assess(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (assessments_evaluate(&keeper->store, keeper->objects, &count, err) < 0)
		return -1;
	*ret_more = count == ASSESSMENTS_AT_ONCE;
	return 0;
}

static int expire(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	return expiry_run(&keeper->store, &keeper->limits, ret_more, err);
}

static int pack(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	return packing_run(&keeper->store, objects_settings(keeper->objects), ret_more, err);
}

static int move(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (blob_offload_run(&keeper->store, keeper->objects, &count, err) < 0)
		return -1;
	*ret_more = count == OFFLOADS_MAX;
	return 0;
}

static int removals(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (removals_run(&keeper->store, keeper->objects, &count, err) < 0)
		return -1;
	*ret_more = count == MAX_REMOVALS;
	return 0;
}

/* An apply that cannot be compared is not tried again: people can read its log and its state. */
static int compare(struct retention_thread *keeper, const struct unrecorded_due_row *row, struct err *err)
{
	const struct unrecorded_job job = {row->job_id, row->run_id, row->workspace_id};

	if (unrecorded_compare(&keeper->store, keeper->objects, &job, err) == 0)
		return 0;
	if (err->kind == ERR_UNAVAILABLE)
		return -1;
	log_error("the log of a lost apply can't be compared with the state: look for resources that the state lacks",
		"run", job.run_id, "workspace", job.workspace_id, "why", err->message, NULL);
	*err = (struct err)ERR_INIT;
	return unrecorded_give_up(&keeper->store, &job, err);
}

static int compare_lost(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (unrecorded_due(&keeper->store, MAX_LOST, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (compare(keeper, row_of(unrecorded_due, &rows, i), err) < 0)
			return -1;
	*ret_more = rows.count == MAX_LOST;
	return 0;
}

static int rescue(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	return rescues_look(&keeper->store, keeper->objects, ret_more, err);
}

static int rescue_removals(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (rescues_delete(&keeper->store, keeper->objects, &count, err) < 0)
		return -1;
	*ret_more = count == MAX_RESCUES_DELETED;
	return 0;
}

static int gauges(struct retention_thread *keeper, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct retention_gauges_row *row;

	(void)ret_more;
	if (db_query(keeper->store.db, &rows, err, retention_gauges) < 0)
		return -1;
	row = row_of(retention_gauges, &rows, 0);
	metric_set(M_KEPT_BYTES, "place=\"postgresql\",what=\"blobs\"", (double)row->blobs);
	metric_set(M_KEPT_BYTES, "place=\"postgresql\",what=\"logs\"", (double)row->logs);
	metric_set(M_KEPT_BYTES, "place=\"object-store\",what=\"all\"", (double)row->bytes);
	metric_set(M_KEPT_OBJECTS, "", (double)row->objects);
	metric_set(M_KEPT_REMOVALS, "", (double)row->removals);
	return 0;
}

static const struct {
	const char *name;
	int64_t every_ms;
	bool of_object_store;
	int (*run)(struct retention_thread *keeper, bool *ret_more, struct err *err);
} chores[] = {
	{"lost applies", 3000, false, compare_lost},
	{"loose blobs", 3000, false, sweep_unused_blobs},
	{"states of lost applies", 3000, false, settle_states},
	{"explorer", 1000, false, explore},
	{"ended assessments", 1000, false, assess},
	{"retention", 3000, false, expire},
	{"packing", 3000, true, pack},
	{"moves", 2000, true, move},
	{"removals", 2000, true, removals},
	{"rescue objects", 2000, true, rescue},
	{"removals of rescue objects", 15000, true, rescue_removals},
	{"gauges", 15000, false, gauges},
};

/* ---- the thread ---- */

static bool store_takes(const struct retention_thread *keeper)
{
	return keeper->objects && !objects_resting(keeper->objects);
}

/* Runs the chores that are due. Returns true if one of them has more to do at once. */
static bool chores_due(struct retention_thread *keeper, int64_t due[ARRAY_LEN(chores)])
{
	bool any = false;

	for (size_t i = 0; i < ARRAY_LEN(chores) && !atomic_load(&keeper->stopping); i++) {
		struct err err = ERR_INIT;
		bool more = false;

		if (clock_mono_ms() < due[i] || (chores[i].of_object_store && !store_takes(keeper)))
			continue;
		if (chores[i].run(keeper, &more, &err) < 0)
			log_warn("retention chore failed: it is tried again", "chore", chores[i].name, "error",
				err.message, NULL);
		due[i] = more ? 0 : clock_mono_ms() + chores[i].every_ms;
		any = any || more;
	}
	return any;
}

static void *retention_thread_thread(void *data)
{
	struct retention_thread *keeper = data;
	struct pollfd wake = {.fd = keeper->wake, .events = POLLIN};
	int64_t due[ARRAY_LEN(chores)] = {0};

	while (!atomic_load(&keeper->stopping)) {
		bool more;

		progress_busy("retention");
		more = chores_due(keeper, due);
		memory_give_back();
		progress_idle();
		poll(&wake, 1, more ? REST_MS : LOOK_MS);
	}
	return NULL;
}

int retention_thread_start(
	const struct retention_thread_spec *spec, struct retention_thread **ret_retention, struct err *err)
{
	struct retention_thread *keeper = mem_new(1, sizeof(*keeper));

	keeper->store = spec->store;
	keeper->store.db = db_open(spec->database_url);
	keeper->objects = spec->objects;
	keeper->limits = spec->limits;
	keeper->wake = eventfd(0, EFD_CLOEXEC);
	if (keeper->wake < 0 || pthread_create(&keeper->thread, NULL, retention_thread_thread, keeper) != 0) {
		err_errno(err, "housekeeper");
		db_close(keeper->store.db);
		free(keeper);
		return -1;
	}
	*ret_retention = keeper;
	return 0;
}

void retention_thread_stop(struct retention_thread *keeper)
{
	if (!keeper)
		return;
	atomic_store(&keeper->stopping, true);
	eventfd_write(keeper->wake, 1);
	pthread_join(keeper->thread, NULL);
	db_close(keeper->store.db);
	closep(&keeper->wake);
	free(keeper);
}
