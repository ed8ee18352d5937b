/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/housekeeper.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/memory.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/loose.h"
#include "scheduler/store/content/moves.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/runs/unrecorded.h"

enum { REST_MS = 100, LOOK_MS = 1000, LOST_MOST = 10 };

struct housekeeper {
	struct store store;
	struct expiry_limits limits;
	pthread_t thread;
	int wake;
	atomic_bool stopping;
};

/* ---- the chores: each runs one batch, and says whether there may be more to do at once ---- */

static int sweep_loose(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (loose_blobs_sweep(&keeper->store, &count, err) < 0)
		return -1;
	*ret_more = count == LOOSE_MOST;
	return 0;
}

static int settle_states(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (state_bases_settle(&keeper->store, &count, err) < 0)
		return -1;
	*ret_more = count == SETTLE_MAX;
	return 0;
}

static int expire(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	return expiry_run(&keeper->store, &keeper->limits, ret_more, err);
}

static int pack(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	return packing_run(&keeper->store, ret_more, err);
}

static int move(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (moves_run(&keeper->store, &count, err) < 0)
		return -1;
	*ret_more = count == MOVES_MOST;
	return 0;
}

static int removals(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	long long count = 0;

	if (removals_run(&keeper->store, &count, err) < 0)
		return -1;
	*ret_more = count == REMOVALS_MOST;
	return 0;
}

/* An apply that cannot be compared is not tried again: people can read its log and its state. */
static int compare(struct housekeeper *keeper, const struct rows *rows, int row, struct err *err)
{
	const struct unrecorded_job job = {
		row_text(rows, row, "job_id"), row_text(rows, row, "run_id"), row_text(rows, row, "workspace_id")};

	if (unrecorded_compare(&keeper->store, &job, err) == 0)
		return 0;
	if (err->kind == ERR_UNAVAILABLE)
		return -1;
	log_error("the log of a lost apply can't be compared with the state: look for resources that the state lacks",
		"run", job.run_id, "workspace", job.workspace_id, "why", err->message, NULL);
	*err = (struct err)ERR_INIT;
	return unrecorded_give_up(&keeper->store, &job, err);
}

static int compare_lost(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (unrecorded_due(&keeper->store, LOST_MOST, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (compare(keeper, &rows, i, err) < 0)
			return -1;
	*ret_more = rows.count == LOST_MOST;
	return 0;
}

/* The tables' sizes are their file sizes. The object store's size comes from the counters in object_usage. */
static int gauges(struct housekeeper *keeper, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	(void)ret_more;
	if (db_query(keeper->store.db, &rows, err,
		    "select pg_total_relation_size('blobs') as blobs, pg_total_relation_size('log_chunks') as logs, "
		    "u.objects, u.bytes, (select count(*) from (select 1 from object_removals limit 100000) r) as "
		    "removals from object_usage u") < 0)
		return -1;
	metric_set(M_KEPT_BYTES, "place=\"postgresql\",what=\"blobs\"", (double)row_int(&rows, 0, "blobs"));
	metric_set(M_KEPT_BYTES, "place=\"postgresql\",what=\"logs\"", (double)row_int(&rows, 0, "logs"));
	metric_set(M_KEPT_BYTES, "place=\"object-store\",what=\"all\"", (double)row_int(&rows, 0, "bytes"));
	metric_set(M_KEPT_OBJECTS, "", (double)row_int(&rows, 0, "objects"));
	metric_set(M_KEPT_REMOVALS, "", (double)row_int(&rows, 0, "removals"));
	return 0;
}

static const struct {
	const char *name;
	int64_t every_ms;
	bool of_object_store;
	int (*run)(struct housekeeper *keeper, bool *ret_more, struct err *err);
} chores[] = {
	{"lost applies", 1000, false, compare_lost},
	{"loose blobs", 3000, false, sweep_loose},
	{"states of lost applies", 3000, false, settle_states},
	{"retention", 3000, false, expire},
	{"packing", 3000, true, pack},
	{"moves", 2000, true, move},
	{"removals", 2000, true, removals},
	{"gauges", 15000, false, gauges},
};

/* ---- the thread ---- */

static bool store_takes(const struct housekeeper *keeper)
{
	return keeper->store.objects && !objects_resting(keeper->store.objects);
}

/* Runs the chores that are due. Returns true if one of them has more to do at once. */
static bool chores_due(struct housekeeper *keeper, int64_t due[ARRAY_LEN(chores)])
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

static void *housekeeper_thread(void *data)
{
	struct housekeeper *keeper = data;
	struct pollfd wake = {.fd = keeper->wake, .events = POLLIN};
	int64_t due[ARRAY_LEN(chores)] = {0};

	while (!atomic_load(&keeper->stopping)) {
		bool more = chores_due(keeper, due);

		memory_give_back();
		poll(&wake, 1, more ? REST_MS : LOOK_MS);
	}
	return NULL;
}

int housekeeper_start(const struct housekeeper_spec *spec, struct housekeeper **ret_housekeeper, struct err *err)
{
	struct housekeeper *keeper = mem_new(1, sizeof(*keeper));

	keeper->store = spec->store;
	keeper->store.db = db_open(spec->database_url);
	keeper->limits = spec->limits;
	keeper->wake = eventfd(0, EFD_CLOEXEC);
	if (keeper->wake < 0 || pthread_create(&keeper->thread, NULL, housekeeper_thread, keeper) != 0) {
		err_errno(err, "housekeeper");
		db_close(keeper->store.db);
		free(keeper);
		return -1;
	}
	*ret_housekeeper = keeper;
	return 0;
}

void housekeeper_stop(struct housekeeper *keeper)
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
