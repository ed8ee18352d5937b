/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/transition.h"

#include <stdio.h>

#include "common/log.h"
#include "common/metrics.h"
#include "proto/mac.h"
#include "scheduler/lifecycle/queue.h"
#include "scheduler/metrics.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/runs/run_triggers.h"

static struct run_row *set_find(const struct run_set *set, const char *run_id)
{
	for (size_t i = 0; i < set->run_count; i++)
		if (text_equal(set->runs[i].id.text, run_id))
			return &set->runs[i];
	return NULL;
}

/* The end of the stage whose work was underway, if it has one: a stage begins with its run's last decision. */
static void note_stage(const struct run_change *change)
{
	const struct run *before = &change->row->run;
	const struct verdict *verdict = change->verdict;

	for (size_t i = 0; i < verdict->mark_count; i++)
		if (before->underway && verdict->marks[i].stage == before->stage &&
			verdict->marks[i].status >= OPERATION_FINISHED)
			metric_observef(M_STAGE_SECONDS, change->row->changed_seconds, "stage=\"%s\",outcome=\"%s\"",
				stages[before->stage].name, operation_status_name(verdict->marks[i].status));
}

/* Assessments are counted when they are evaluated. */
static void note_end(const struct run_change *change)
{
	const struct run *run = &change->verdict->run;

	if (run->query)
		metric_addf(M_QUERIES, 1, "outcome=\"%s\"", query_status_name(run));
	else if (run->test)
		metric_addf(M_MODULE_TESTS, 1, "outcome=\"%s\"", query_status_name(run));
	else if (!run->assessment)
		metric_addf(M_RUNS_ENDED, 1, "outcome=\"%s\",source=\"%s\"", run_statuses[run->status].name,
			change->row->source);
}

static void note_transition(const struct run_change *change)
{
	const struct run *run = &change->verdict->run;
	char labels[64];

	if (!run_is_hidden(run))
		note_stage(change);
	if (run_ended(run) && !run_ended(&change->row->run))
		note_end(change);
	if (!change->verdict->reached_count)
		return;
	snprintf(labels, sizeof(labels), "status=\"%s\"", run_statuses[run->status].name);
	metric_add(M_TRANSITIONS, labels, 1);
	log_info("run", "run", change->row->id.text, "workspace", change->row->workspace.text, "transition",
		run_event_name(change->event), "status", run_statuses[run->status].name, "reason", change->reason,
		NULL);
}

/* Logs the broken run, which the caller leaves unchanged, so that it does not stop decisions about other runs. */
static const char *note_broken(const struct run_row *row, enum run_event_kind event, const char *broken)
{
	log_error("a run breaks an invariant and is left as it is", "run", row->id.text, "event", run_event_name(event),
		"invariant", broken, NULL);
	return broken;
}

/* A run that breaks an invariant can only end as errored, once none of its work is running. */
static bool ends_broken(const struct run_row *row, enum run_event_kind event)
{
	return !row->unknown && (event == EV_ERRORED || event == EV_LOST);
}

static struct verdict row_step(const struct run_row *row, const struct run_event *event)
{
	return row->broken ? run_abandon(&row->run, event) : run_step(&row->run, event);
}

/* Steps the run, checks the verdict, and adds it to the changes unless the run refuses the event. Returns NULL, or the
 * invariant that the row or the verdict breaks; nothing is added then. */
static const char *change_make(const struct run_row *row, const struct run_transition *item, struct changes *changes,
	struct verdict *ret_verdict)
{
	struct run_event event = item->event;
	struct run_change change = {.row = row,
		.verdict = ret_verdict,
		.actor = item->actor,
		.comment = item->comment,
		.reason = item->reason,
		.result = item->result,
		.event = event.kind};
	const char *broken;

	if (row->broken && !ends_broken(row, event.kind))
		return note_broken(row, event.kind, row->broken);
	event.started = row->job.started || item->fenced;
	event.may_retry = job_may_retry(
		row->run.stage, event.started, row->job.attempt, row->job.losses + (event.kind == EV_LOST));
	event.window_closed = row->window_closed && !item->at_once;
	event.cooled_off = row->cooled_off || item->at_once;
	*ret_verdict = row_step(row, &event);
	if (ret_verdict->refused)
		return NULL;
	broken = run_check(&ret_verdict->run);
	if (broken)
		return note_broken(row, event.kind, broken);
	changes_add(changes, &change);
	note_transition(&change);
	return NULL;
}

/* Whether the run is in the stage of fetching, or comes to it. */
static bool run_fetches(const struct run *run)
{
	return (run->stages & STAGE_BIT(STAGE_FETCH)) && (run->stage == STAGE_FETCH || run->status == RUN_PENDING);
}

static bool item_is_late(const struct run_transition *item, const struct run_row *row)
{
	const struct attempt_ref ref = {item->job, item->attempt, item->ended_lease != NULL};
	struct attempt now = row->job;

	if (item->of_content && !run_fetches(&row->run))
		return true;
	/* A different time means a later heartbeat or a step of the clock. */
	now.lease_over = text_equal(item->ended_lease, row->lease_until);
	return attempt_is_late(&now, &ref);
}

/* The plan or apply that the event ends as errored without a result of its worker; "" if there is none. */
static struct id untold_operation(const struct run_transition *item, const struct run_row *row, const struct run *run)
{
	const enum stage stage = row->run.stage;

	if (run->status != RUN_ERRORED || item->result || !item->reason ||
		(stage != STAGE_PLAN && stage != STAGE_APPLY))
		return (struct id){""};
	return id_sibling(row->id.text, stages[stage].name);
}

static void item_decide(
	struct run_transition *item, const struct run_set *set, struct changes *changes, struct db_array *kicked)
{
	const struct run_row *row = set_find(set, item->run.text);
	const char *broken;
	struct verdict verdict;

	if (!row || item_is_late(item, row)) {
		item->outcome = row ? TRANSITION_LATE : TRANSITION_NO_RUN;
		return;
	}
	if (item->needs_proof && !job_result_verify(item->result, row->token_hash)) {
		item->outcome = TRANSITION_UNPROVEN;
		return;
	}
	broken = change_make(row, item, changes, &verdict);
	if (broken) {
		item->refused = broken;
		item->outcome = TRANSITION_BROKEN;
		return;
	}
	item->refused = verdict.refused;
	item->outcome = verdict.refused ? TRANSITION_REFUSED : TRANSITION_APPLIED;
	item->applied = verdict.run.status == RUN_APPLIED && row->run.status != RUN_APPLIED;
	if (!verdict.refused)
		item->told = untold_operation(item, row, &verdict.run);
	if (queue_may_move(&row->run, &verdict.run) || row->broken)
		db_array_add(kicked, row->workspace.text);
}

static bool run_is_among(const char *run_id, struct run_transition *const *items, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(items[i]->run.text, run_id))
			return true;
	return false;
}

/* Collects the runs of the open items. Returns true if one of these items ends a lease. */
static bool open_runs(const struct run_transition *items, size_t count, struct db_array *ret_ids)
{
	bool judges_leases = false;

	for (size_t i = 0; i < count; i++)
		if (items[i].outcome == TRANSITION_PENDING) {
			judges_leases |= items[i].ended_lease != NULL;
			db_array_add(ret_ids, items[i].run.text);
		}
	return judges_leases;
}

/* Decides the open items of each run up to the first that changes the run; the next round loads that run again. So any
 * number of items that change nothing, such as forged results, takes one round. Returns the number of decided items. */
static int round_decide(struct run_transition *items, size_t count, const struct run_set *set, struct changes *changes,
	struct db_array *kicked)
{
	_cleanup_(freep) struct run_transition **changed = mem_new(count, sizeof(struct run_transition *));
	size_t changed_count = 0;
	int decided = 0;

	for (size_t i = 0; i < count; i++) {
		if (items[i].outcome != TRANSITION_PENDING || run_is_among(items[i].run.text, changed, changed_count))
			continue;
		item_decide(&items[i], set, changes, kicked);
		if (items[i].outcome == TRANSITION_APPLIED)
			changed[changed_count++] = &items[i];
		decided++;
	}
	return decided;
}

/* Those who follow a log see there why it ends. */
static int reasons_tell(struct store *store, struct run_transition *items, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		_cleanup_(freep) char *line = NULL;

		if (!items[i].told.text[0])
			continue;
		line = mem_printf("\nError: %s\n", items[i].reason);
		if (log_line_add(store, items[i].told.text, line, err) < 0)
			return -1;
		items[i].told.text[0] = '\0';
	}
	return 0;
}

/* Returns the number of decided items; 0: none is open. */
static int round_run(
	struct store *store, struct run_transition *items, size_t count, struct db_array *kicked, struct err *err)
{
	_cleanup_(run_set_release) struct run_set set = {0};
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(changes_release) struct changes changes;
	bool judges_leases = open_runs(items, count, &ids);
	int decided;

	changes_init(&changes, "");
	if (!ids.count)
		return 0;
	if (judges_leases && runs_lock_leases(store, &ids, err) < 0)
		return -1;
	if (runs_load(store, &ids, &set, err) < 0)
		return -1;
	text_copy(changes.now, sizeof(changes.now), set.now);
	changes.watched = set.watched;
	decided = round_decide(items, count, &set, &changes, kicked);
	return changes_save(store, &changes, err) < 0 || reasons_tell(store, items, count, err) < 0 ? -1 : decided;
}

static const struct run_workspace *set_workspace(const struct run_set *set, const char *id)
{
	for (size_t i = 0; i < set->workspace_count; i++)
		if (text_equal(set->workspaces[i].id.text, id))
			return &set->workspaces[i];
	return NULL;
}

/* Returns the event for a queued or parked run of the set; EVENT_COUNT: none. */
static enum run_event_kind row_event(const struct run_set *set, const struct run_row *row)
{
	const struct run_workspace *workspace = set_workspace(set, row->workspace.text);
	struct queue_view view = {.locked = true};

	if (workspace)
		view = (struct queue_view){.locked = workspace->locked,
			.has_current = workspace->current.text[0],
			.held = workspace->held,
			.maintenance = workspace->maintenance};
	return queue_event(&view, &row->run, row->plan_is_stale);
}

/* Decides the runs of the set. Adds a workspace to `kicked` if a stale plan left the head of its queue. */
static void set_advance(const struct run_set *set, struct changes *changes, struct db_array *kicked)
{
	for (size_t i = 0; i < set->run_count; i++) {
		struct run_transition item = {.event = {.kind = row_event(set, &set->runs[i])}};
		struct verdict verdict;

		if (item.event.kind == EVENT_COUNT || change_make(&set->runs[i], &item, changes, &verdict))
			continue;
		if (item.event.kind == EV_STALE && set->runs[i].run.queued)
			db_array_add(kicked, set->runs[i].workspace.text);
	}
}

/* Moves queues on. Replaces the content of `kicked` by the workspaces whose queues may move further. */
/* model: queue */
static int queues_advance(struct store *store, struct db_array *kicked, struct err *err)
{
	_cleanup_(run_set_release) struct run_set set = {0};
	_cleanup_(changes_release) struct changes changes;

	changes_init(&changes, "");
	if (runs_load_queues(store, kicked, &set, err) < 0)
		return -1;
	text_copy(changes.now, sizeof(changes.now), set.now);
	changes.watched = set.watched;
	db_array_release(kicked);
	*kicked = (struct db_array)DB_ARRAY_INIT;
	set_advance(&set, &changes, kicked);
	return changes_save(store, &changes, err);
}

void transitions_of_created(const struct run_set *created, struct changes *changes)
{
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	set_advance(created, changes, &kicked);
}

/* Records the targets of the runs that the items applied; runs/triggers.c creates their runs. */
static int triggers_record(struct store *store, const struct run_transition *items, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array applied = DB_ARRAY_INIT;

	for (size_t i = 0; i < count; i++)
		if (items[i].applied)
			db_array_add(&applied, items[i].run.text);
	return applied.count ? pending_triggers_insert(store, &applied, err) : 0;
}

int transitions_apply_within(
	struct store *store, struct run_transition *items, size_t count, struct db_array *kicked, struct err *err)
{
	int taken;

	for (size_t i = 0; i < count; i++) {
		items[i].outcome = TRANSITION_PENDING;
		items[i].applied = false;
		items[i].told.text[0] = '\0';
	}
	do {
		taken = round_run(store, items, count, kicked, err);
	} while (taken > 0);
	while (taken == 0 && kicked->count)
		taken = queues_advance(store, kicked, err);
	return taken < 0 ? -1 : triggers_record(store, items, count, err);
}

struct batch {
	struct store *store;
	struct run_transition *items;
	size_t count;
	const char *workspace_id;
};

static int batch_run(void *data, struct err *err)
{
	struct batch *batch = data;
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	if (batch->workspace_id)
		db_array_add(&kicked, batch->workspace_id);
	return transitions_apply_within(batch->store, batch->items, batch->count, &kicked, err);
}

/* Logged for the timeline of a run (tests/bench/lone). */
static void note_commit(const struct batch *batch)
{
	for (size_t i = 0; i < batch->count; i++)
		if (batch->items[i].outcome == TRANSITION_APPLIED)
			log_debug("committed", "run", batch->items[i].run.text, "transition",
				run_event_name(batch->items[i].event.kind), NULL);
}

static int batch_commit(struct batch *batch, struct err *err)
{
	if (db_transaction(batch->store->db, batch_run, batch, err) < 0)
		return -1;
	note_commit(batch);
	return 0;
}

int runs_apply_transitions(struct store *store, struct run_transition *items, size_t count, struct err *err)
{
	struct batch batch = {.store = store, .items = items, .count = count};

	return batch_commit(&batch, err);
}

int run_apply_transition(struct store *store, struct run_transition *item, struct err *err)
{
	if (runs_apply_transitions(store, item, 1, err) < 0)
		return -1;
	if (item->outcome == TRANSITION_NO_RUN)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	if (item->outcome == TRANSITION_APPLIED)
		return 0;
	err_set(err, ERR_CONFLICT, "%s",
		item->outcome == TRANSITION_LATE ? "this attempt is over" : text_or_empty(item->refused));
	text_copy(err->title, sizeof(err->title), "transition not allowed");
	return -1;
}

int workspace_kick(struct store *store, const char *workspace_id, struct err *err)
{
	struct batch batch = {.store = store, .workspace_id = workspace_id};

	return batch_commit(&batch, err);
}
