/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/schedules/schedules.h"

#include <stdio.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/background/schedules/schedules.sql.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/schedules/schedules.h"
#include "scheduler/rights/rights.h"

/* The workspace's row may be locked for a moment: its schedule is tried again after LOCKED_SECONDS. */
enum { MAX_AT_ONCE = 50, MAX_MS = 1000, AGAIN_SECONDS = 60, LOCKED_SECONDS = 2 };

#define GRACE "1 hour"

typedef const struct schedules_take_row schedule_row_t;

/* The outcome of one occurrence. */
struct use {
	schedule_row_t *row;
	const char *outcome; /* NULL: not decided, a run is to be queued */
	char reason[256];    /* why no run was queued */
	char *message;
	struct run_create_params order;
	struct run_creation *creation; /* its run; NULL: none */
	char local[CRON_TIME_SIZE];    /* of the next occurrence; empty: none */
};

struct batch {
	struct store *store;
	struct db_array *ids;
	struct rows rows;
	struct use *uses;
	struct run_creation *creations;
	size_t creation_count;
	struct audit_batch audit;
	struct db_array locked; /* ids of schedules whose workspace is locked by another transaction */
	int count;              /* schedules that were taken */
};

static void batch_release(struct batch *b)
{
	for (int i = 0; b->uses && i < b->rows.count; i++)
		free(b->uses[i].message);
	free(b->uses);
	free(b->creations);
	b->uses = NULL;
	b->creations = NULL;
	b->creation_count = 0;
	db_array_release(&b->locked);
	audit_batch_release(&b->audit);
	rows_release(&b->rows);
}

/* ---- decisions ---- */

static void use_end(struct use *use, const char *outcome, const char *reason)
{
	use->outcome = outcome;
	text_copy(use->reason, sizeof(use->reason), reason);
}

/* The first right that the run needs and the person lacks; NULL: none. */
static const char *right_missing(schedule_row_t *s)
{
	bool applies = s->auto_apply || text_equal(s->kind, "destroy");

	if (s->is_site_admin)
		return NULL;
	if (!((rights)s->rights & right_of(CAN_QUEUE_RUN)))
		return "queue";
	return applies && !((rights)s->rights & right_of(CAN_APPLY)) ? "apply" : NULL;
}

static void person_check(struct use *use)
{
	schedule_row_t *s = use->row;
	const char *missing = right_missing(s);
	char reason[sizeof(use->reason)];

	if (!s->person) {
		use_end(use, "stopped", "The account of the person who saved it is suspended or deleted");
	} else if (missing) {
		snprintf(reason, sizeof(reason), "%.100s, who saved it, may no longer %s runs in the workspace",
			s->username ? s->username : "The team's token", missing);
		use_end(use, "stopped", reason);
	}
}

static void workspace_check(struct use *use)
{
	schedule_row_t *s = use->row;
	char reason[sizeof(use->reason)];

	if (s->late) {
		snprintf(reason, sizeof(reason),
			"It was due at %s, and nothing could start it until more than an hour later", s->due);
		use_end(use, "skipped", reason);
	} else if (s->locked) {
		use_end(use, "skipped", "The workspace was locked");
	} else if (s->held) {
		use_end(use, "skipped", "The workspace was held after a lost apply");
	} else if (s->waits) {
		use_end(use, "skipped", "The previous run of the schedule had not ended");
	}
}

/* ---- runs ---- */

static void order_make(struct use *use)
{
	schedule_row_t *s = use->row;
	bool plan = text_equal(s->kind, "plan");

	use->message = mem_printf("Queued by the schedule %s", s->name);
	use->order = (struct run_create_params){.workspace_id = s->workspace_id,
		.actor = s->run_as,
		.message = use->message,
		.source = "runyard-schedule",
		.trigger_reason = "schedule",
		.plan_only = plan ? CHOICE_YES : CHOICE_NO,
		.auto_apply = s->auto_apply ? CHOICE_YES : CHOICE_NO,
		.is_destroy = text_equal(s->kind, "destroy"),
		.refresh_only = text_equal(s->kind, "refresh-only")};
}

static int batch_decide(struct batch *b, struct err *err)
{
	for (int i = 0; i < b->rows.count; i++) {
		struct use *use = &b->uses[i];

		use->row = row_of(schedules_take, &b->rows, i);
		if (use->row->cron && schedule_next_local(use->row->cron, use->row->local, use->local, err) < 0)
			return -1;
		person_check(use);
		if (!use->outcome)
			workspace_check(use);
		if (use->outcome)
			continue;
		order_make(use);
		use->creation = &b->creations[b->creation_count++];
		use->creation->order = &use->order;
	}
	return 0;
}

/* Workspaces that other transactions have locked are tried again soon. */
static int batch_create(struct batch *b, struct err *err)
{
	if (b->creation_count && run_creations_apply_ready(b->store, b->creations, b->creation_count, err) < 0)
		return -1;
	for (int i = 0; i < b->rows.count; i++) {
		struct use *use = &b->uses[i];
		const struct err *why = use->creation ? &use->creation->err : NULL;

		if (!why)
			continue;
		if (why->kind == ERR_NONE)
			use_end(use, "queued", "");
		else if (why->kind == ERR_INVALID)
			use_end(use, "skipped", why->message);
		else if (why->kind == ERR_UNAVAILABLE)
			db_array_add(&b->locked, use->row->id);
		else
			return err_set(err, why->kind, "%s", why->message);
	}
	return 0;
}

/* ---- what is stored ---- */

static void event_add(struct batch *b, const struct use *use, const char *action, bool of_run)
{
	schedule_row_t *s = use->row;
	json_auto_t *details = of_run ? json_pack("{ss}", "schedule", s->id) : json_pack("{ss}", "reason", use->reason);
	char request[AUDIT_UUID_SIZE];

	audit_uuid(request);
	audit_add(&b->audit,
		&(struct audit_event){.organization = s->organization_id,
			.actor_type = "system",
			.actor_name = "runyard-scheduler",
			.request = request,
			.action = action,
			.resource_type = of_run ? "run" : "schedule",
			.resource_id = of_run ? use->creation->run.text : s->id,
			.workspace = s->workspace_id,
			.details = details});
}

static int use_note(struct batch *b, const struct use *use, struct err *err)
{
	schedule_row_t *s = use->row;
	_cleanup_(freep) char *note = NULL;

	if (text_equal(use->outcome, "queued")) {
		event_add(b, use, "create", true);
		return 0;
	}
	/* A schedule may be skipped often for the same reason. */
	if (text_equal(use->outcome, "stopped") || !text_equal(s->last_outcome, "skipped") ||
		!text_equal(s->last_reason, use->reason))
		event_add(b, use, text_equal(use->outcome, "stopped") ? "stop" : "skip", false);
	if (!text_equal(use->outcome, "stopped"))
		return 0;
	log_warn("a schedule was stopped", "schedule", s->id, "workspace", s->workspace_id, "why", use->reason, NULL);
	note = mem_printf("The schedule %s was stopped. %s", s->name, use->reason);
	return notification_of_workspace_put_up(b->store,
		&(struct workspace_notification){
			.workspace_id = s->workspace_id, .trigger = TRIGGER_SCHEDULE_STOPPED, .note = note},
		err);
}

static json_t *use_json(const struct use *use)
{
	bool queued = text_equal(use->outcome, "queued"), stopped = text_equal(use->outcome, "stopped");

	return json_pack("{ss ss so so so}", "id", use->row->id, "outcome", use->outcome, "reason",
		json_string_or_null(text_or_null(use->reason)), "run_id",
		json_string_or_null(queued ? use->creation->run.text : NULL), "local",
		json_string_or_null(stopped ? NULL : text_or_null(use->local)));
}

static int batch_store(struct batch *b, struct err *err)
{
	json_auto_t *list = json_array();
	_cleanup_(freep) char *text = NULL;

	for (int i = 0; i < b->rows.count; i++) {
		const struct use *use = &b->uses[i];

		if (!use->outcome)
			continue;
		if (use_note(b, use, err) < 0)
			return -1;
		json_array_append_new(list, use_json(use));
	}
	text = json_text(list);
	if (db_query(b->store->db, NULL, err, schedules_used, .rows = text) < 0 ||
		(b->locked.count &&
			db_query(b->store->db, NULL, err, schedule_postpone, .ids = &b->locked,
				.again_seconds = LOCKED_SECONDS) < 0))
		return -1;
	return audit_insert(b->store, &b->audit, err);
}

static int batch_in(void *data, struct err *err)
{
	struct batch *b = data;

	batch_release(b);
	audit_batch_init(&b->audit);
	b->locked = (struct db_array)DB_ARRAY_INIT;
	b->rows = (struct rows)ROWS_INIT;
	if (db_query(b->store->db, &b->rows, err, schedules_take, .ids = b->ids, .grace = GRACE) < 0)
		return -1;
	b->uses = mem_new((size_t)b->rows.count + 1, sizeof(*b->uses));
	b->creations = mem_new((size_t)b->rows.count + 1, sizeof(*b->creations));
	return batch_decide(b, err) < 0 || batch_create(b, err) < 0 || batch_store(b, err) < 0 ? -1 : 0;
}

/* Uses the occurrences of these schedules in one transaction. */
static int batch_run(struct store *store, struct db_array *ids, struct err *err)
{
	struct batch b = {.store = store, .ids = ids, .rows = ROWS_INIT, .locked = DB_ARRAY_INIT};
	int result;

	audit_batch_init(&b.audit);
	result = db_transaction(store->db, batch_in, &b, err);
	for (int i = 0; result == 0 && i < b.rows.count; i++)
		if (b.uses[i].outcome) {
			char labels[64];

			snprintf(labels, sizeof(labels), "outcome=\"%s\"", b.uses[i].outcome);
			metric_add(M_SCHEDULES_USED, labels, 1);
		}
	batch_release(&b);
	return result;
}

/* ---- the sweep ---- */

/* Each schedule in a transaction of its own, so that one that fails does not stop the others. */
static int each_run(struct store *store, const struct rows *due, struct sweep_failures *failures, struct err *err)
{
	for (int i = 0; i < due->count; i++) {
		_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
		const char *id = row_of(schedules_due, due, i)->id;
		struct err why = ERR_INIT;

		db_array_add(&ids, id);
		if (batch_run(store, &ids, &why) < 0 &&
			(sweep_failed(failures, id, &why, err) < 0 ||
				db_query(store->db, NULL, err, schedule_postpone, .ids = &ids,
					.again_seconds = AGAIN_SECONDS) < 0))
			return -1;
	}
	return 0;
}

/* Returns 1 if more may be due, 0 if not, -1 for an error. */
static int sweep_once(struct store *store, struct sweep_failures *failures, struct err *err)
{
	_cleanup_(rows_release) struct rows due = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct err why = ERR_INIT;

	if (db_query(store->db, &due, err, schedules_due, .max = MAX_AT_ONCE) < 0)
		return -1;
	for (int i = 0; i < due.count; i++)
		db_array_add(&ids, row_of(schedules_due, &due, i)->id);
	if (due.count && batch_run(store, &ids, &why) < 0 && each_run(store, &due, failures, err) < 0)
		return -1;
	return due.count == MAX_AT_ONCE;
}

int schedules_sweep(struct store *store, struct err *err)
{
	struct sweep_failures failures = {0};
	int64_t end = clock_mono_ms() + MAX_MS;
	int more;

	do
		more = sweep_once(store, &failures, err);
	while (more > 0 && clock_mono_ms() < end);
	if (more < 0)
		return -1;
	sweep_failures_note(&failures, "schedules");
	return 0;
}
