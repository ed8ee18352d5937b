/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/triggers.h"

#include "common/log.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/runs/run_events.h"
#include "scheduler/store/runs/run_triggers.h"
#include "scheduler/store/runs/run_triggers.sql.h"

enum { MAX_SWEPT = 50 };

/* ---- one target ---- */

struct firing {
	struct store *store;
	struct pending_trigger trigger;
};

static int firing_note(const struct firing *f, const char *target, const char *outcome, struct err *err)
{
	_cleanup_(freep) char *text = mem_printf("%s: %s", target, outcome);

	log_info("run trigger", "run", f->trigger.run_id, "workspace", f->trigger.workspace_id, "outcome", outcome,
		NULL);
	return run_event_describe(f->store, f->trigger.run_id, "run-trigger", text, err);
}

/* Does not wait for the target's row lock: a locked target is ERR_UNAVAILABLE, and is tried again. */
static int firing_create(const struct firing *f, const struct pending_trigger_lock_row *trigger, struct err *err)
{
	_cleanup_(freep) char *message =
		mem_printf("Triggered by %s in workspace %s", f->trigger.run_id, trigger->source_name);
	const struct run_create_params order = {
		.workspace_id = f->trigger.workspace_id,
		.message = message,
		.source = "tfe-run-trigger",
		.trigger_reason = "run_trigger",
		.plan_only = CHOICE_NO,
		.auto_apply = trigger->auto_apply ? CHOICE_YES : CHOICE_NO,
	};
	struct run_creation creation = {.order = &order};

	if (run_creations_apply_ready(f->store, &creation, 1, err) < 0)
		return -1;
	if (creation.err.kind == ERR_NONE)
		return firing_note(f, trigger->workspace_name, creation.run.text, err);
	if (creation.err.kind == ERR_INVALID)
		return firing_note(f, trigger->workspace_name, creation.err.message, err);
	*err = creation.err;
	return -1;
}

static int firing_run(void *data, struct err *err)
{
	const struct firing *f = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct pending_trigger_lock_row *trigger;
	int result;

	if (pending_trigger_lock(f->store, &f->trigger, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	trigger = row_of(pending_trigger_lock, &rows, 0);
	if (trigger->workspace_name)
		result = firing_create(f, trigger, err);
	else
		result = firing_note(f, f->trigger.workspace_id, "the workspace was deleted", err);
	return result < 0 ? -1 : pending_trigger_delete(f->store, &f->trigger, err);
}

/* ---- failures ---- */

struct postponement {
	struct store *store;
	const struct pending_trigger *trigger;
	const struct err *why;
};

/* The source run's events report the first failure. A locked target is not a failure. */
static int postpone_run(void *data, struct err *err)
{
	const struct postponement *p = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct pending_trigger_postpone_row *trigger;
	_cleanup_(freep) char *text = NULL;

	if (pending_trigger_postpone(p->store, p->trigger, p->why->message, &rows, err) < 0)
		return -1;
	if (!rows.count || p->why->kind == ERR_UNAVAILABLE)
		return 0;
	trigger = row_of(pending_trigger_postpone, &rows, 0);
	if (trigger->tries > 1 || !trigger->workspace_name)
		return 0;
	text = mem_printf(
		"%s: the run can't be created yet, and is tried again: %s", trigger->workspace_name, p->why->message);
	return run_event_describe(p->store, p->trigger->run_id, "run-trigger", text, err);
}

static int postpone(struct store *store, const struct pending_trigger *trigger, const struct err *why, struct err *err)
{
	struct postponement p = {store, trigger, why};

	if (why->kind != ERR_UNAVAILABLE)
		log_warn("a run trigger failed and is tried again", "run", trigger->run_id, "workspace",
			trigger->workspace_id, "error", why->message, NULL);
	return db_transaction(store->db, postpone_run, &p, err);
}

int triggers_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (pending_triggers_due(store, MAX_SWEPT, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct pending_triggers_due_row *due = row_of(pending_triggers_due, &rows, i);
		struct firing f = {store, {due->run_id, due->workspace_id}};
		struct err why = ERR_INIT;

		if (db_transaction(store->db, firing_run, &f, &why) < 0 && postpone(store, &f.trigger, &why, err) < 0)
			return -1;
	}
	return 0;
}
