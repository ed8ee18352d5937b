/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/schedules/schedules.h"

#include "scheduler/store/names.h"
#include "scheduler/store/schedules/schedules.sql.h"

int schedules_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, schedules_list, .workspace_id = workspace_id, .limit = range.limit,
		.offset = range.offset);
}

int schedule_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, schedule_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "schedule not found");
}

/* ---- occurrences ---- */

int schedule_next_local(const char *cron_text, const char *after, char ret_local[CRON_TIME_SIZE], struct err *err)
{
	struct cron_time time, next;
	struct cron cron;

	if (cron_parse(cron_text, &cron, err) < 0 || !cron_time_read(after, &time))
		return err_set(err, ERR_INTERNAL, "the schedule's cron or local time is not valid");
	next = cron_next(&cron, &time);
	cron_time_write(&next, ret_local);
	return 0;
}

int schedule_occurrences(
	struct store *store, const struct schedule_row *schedule, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array locals = DB_ARRAY_INIT;
	char local[CRON_TIME_SIZE];

	if (!schedule->enabled || !schedule->cron || !schedule->local)
		return 0;
	text_copy(local, sizeof(local), schedule->local);
	for (int i = 0; i < SHOWN_OCCURRENCES; i++) {
		if (schedule_next_local(schedule->cron, local, local, err) < 0)
			return -1;
		db_array_add(&locals, local);
	}
	return db_query(
		store->db, ret_rows, err, schedule_moments, .locals = &locals, .time_zone = schedule->time_zone);
}

int time_zone_check(struct store *store, const char *time_zone, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, schedule_zone_check, .time_zone = time_zone) < 0)
		return -1;
	if (row_of(schedule_zone_check, &rows, 0)->known)
		return 0;
	return err_at(err, "/data/attributes/time-zone",
		"Time zone must be the name of a time zone, such as Europe/Berlin or UTC");
}

static int at_check(struct store *store, const struct schedule *schedule, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!schedule->enabled)
		return 0;
	if (db_query(store->db, &rows, err, schedule_at_check, .at = schedule->at) < 0)
		return -1;
	if (row_of(schedule_at_check, &rows, 0)->comes)
		return 0;
	return err_at(err, "/data/attributes/at", "At must be a time that has not passed");
}

/* The local time of the next occurrence. Empty for a schedule with one time. */
static int local_find(
	struct store *store, const struct schedule *schedule, char ret_local[CRON_TIME_SIZE], struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	*ret_local = '\0';
	if (!schedule->cron)
		return at_check(store, schedule, err);
	if (time_zone_check(store, schedule->time_zone, err) < 0 ||
		db_query(store->db, &rows, err, schedule_now, .time_zone = schedule->time_zone) < 0)
		return -1;
	return schedule_next_local(schedule->cron, row_of(schedule_now, &rows, 0)->local, ret_local, err);
}

/* ---- changes ---- */

struct change {
	struct store *store;
	const struct schedule *schedule;
	const char *workspace_id; /* of a new one */
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	const struct change *c = data;
	const struct schedule *s = c->schedule;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char local[CRON_TIME_SIZE];

	if (local_find(c->store, s, local, err) < 0 ||
		db_query(c->store->db, NULL, err, schedule_lock, .workspace_id = c->workspace_id) < 0)
		return -1;
	if (db_query(c->store->db, &rows, err, schedule_create, .id = c->id.text, .workspace_id = c->workspace_id,
		    .name = s->name, .kind = s->kind, .auto_apply = s->auto_apply, .cron = s->cron,
		    .time_zone = s->time_zone, .at = s->at, .jitter_seconds = s->jitter_seconds, .enabled = s->enabled,
		    .run_as = s->run_as, .local = text_or_null(local), .max = MAX_SCHEDULES) < 0)
		return name_taken(c->store, "schedules_name", err);
	if (db_affected(&rows))
		return 0;
	return err_at(err, "/data", "A workspace can't have more than %d schedules", MAX_SCHEDULES);
}

int schedule_create(struct store *store, const char *workspace_id, const struct schedule *schedule, struct id *ret_id,
	struct err *err)
{
	struct change change = {store, schedule, workspace_id, id_new("sched")};

	if (db_transaction(store->db, create_in, &change, err) < 0)
		return -1;
	*ret_id = change.id;
	return 0;
}

static int update_in(void *data, struct err *err)
{
	const struct change *c = data;
	const struct schedule *s = c->schedule;
	char local[CRON_TIME_SIZE];

	if (local_find(c->store, s, local, err) < 0)
		return -1;
	if (db_query(c->store->db, NULL, err, schedule_update, .id = c->id.text, .name = s->name, .kind = s->kind,
		    .auto_apply = s->auto_apply, .cron = s->cron, .time_zone = s->time_zone, .at = s->at,
		    .jitter_seconds = s->jitter_seconds, .enabled = s->enabled, .run_as = s->run_as,
		    .local = text_or_null(local)) < 0)
		return name_taken(c->store, "schedules_name", err);
	return 0;
}

int schedule_update(struct store *store, const char *id, const struct schedule *schedule, struct err *err)
{
	struct change change = {store, schedule, NULL, {""}};

	text_copy(change.id.text, sizeof(change.id.text), id);
	return db_transaction(store->db, update_in, &change, err);
}

int schedule_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, schedule_delete, .id = id);
}
