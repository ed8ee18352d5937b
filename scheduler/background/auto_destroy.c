/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/auto_destroy.h"

#include "common/log.h"
#include "scheduler/background/auto_destroy.sql.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/notifications/notifications.h"

enum { MAX_AT_ONCE = 100, AGAIN_SECONDS = 60 };

struct turn {
	struct store *store;
	const char *workspace_id;
};

static int tell(struct turn *turn, const struct auto_destroy_lock_row *workspace, const char *action, struct err *err)
{
	char request[AUDIT_UUID_SIZE];
	const struct audit_event event = {.organization = workspace->organization_id,
		.actor_type = "system",
		.request = request,
		.action = action,
		.resource_type = "workspace",
		.resource_id = turn->workspace_id,
		.workspace = workspace->name};

	audit_uuid(request);
	return audit_write(turn->store, &event, err);
}

static int destroy(struct turn *turn, const struct auto_destroy_lock_row *workspace, struct err *err)
{
	_cleanup_(freep) char *message = mem_printf("Destroyed automatically: its time was %s", workspace->due);
	const struct run_create_params order = {.workspace_id = turn->workspace_id,
		.message = message,
		.source = "tfe-infrastructure-lifecycle",
		.trigger_reason = "auto_destroy",
		.plan_only = CHOICE_NO,
		.auto_apply = CHOICE_YES,
		.is_destroy = true};
	struct err refused = ERR_INIT;
	struct id run;

	if (run_create(turn->store, &order, &run, &refused) == 0) {
		log_info("destroyed automatically", "workspace", turn->workspace_id, "run", run.text, NULL);
		return tell(turn, workspace, "auto_destroy", err);
	}
	if (refused.kind == ERR_INVALID) {
		log_warn("can't be destroyed automatically", "workspace", turn->workspace_id, "why", refused.message,
			NULL);
		return tell(turn, workspace, "auto_destroy_refused", err);
	}
	*err = refused;
	return -1;
}

static int remind(const struct turn *turn, const struct auto_destroy_lock_row *workspace, struct err *err)
{
	if (!workspace->reminder || !workspace->manages)
		return 0;
	log_info("reminded of its automatic destruction", "workspace", turn->workspace_id, "due", workspace->due, NULL);
	return notification_of_workspace_put_up(turn->store,
		&(struct workspace_notification){.workspace_id = turn->workspace_id,
			.trigger = TRIGGER_DESTROY_REMINDER,
			.due_at = workspace->at},
		err);
}

/* Sets the time of the next try, so that the workspace does not stay at the head of the sweep. */
static int postpone(struct store *store, const char *workspace_id, struct err *err)
{
	return db_query(store->db, NULL, err, auto_destroy_postpone, .workspace_id = workspace_id,
		.again_seconds = AGAIN_SECONDS);
}

/* Runs under the workspace's lock, which orders it with other schedulers and with changes of the settings. */
static int turn_run(void *data, struct err *err)
{
	struct turn *turn = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct auto_destroy_lock_row *workspace;

	if (db_query(turn->store->db, &rows, err, auto_destroy_lock, .workspace_id = turn->workspace_id) < 0)
		return -1;
	if (!rows.count)
		return 0;
	workspace = row_of(auto_destroy_lock, &rows, 0);
	/* Its first apply may not have stored a state yet. */
	if (workspace->over && !workspace->manages && workspace->busy)
		return postpone(turn->store, turn->workspace_id, err);
	if (remind(turn, workspace, err) < 0 ||
		(workspace->over && workspace->manages && destroy(turn, workspace, err) < 0))
		return -1;
	/* The first update's trigger considers only the settings. The second update computes the next time of a
	 * duration. */
	if (workspace->over &&
		db_query(turn->store->db, NULL, err, auto_destroy_clear, .workspace_id = turn->workspace_id) < 0)
		return -1;
	return db_query(turn->store->db, NULL, err, auto_destroy_plan, .workspace_id = turn->workspace_id,
		.over = workspace->over, .reminder = workspace->reminder);
}

int auto_destroy_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};

	if (db_query(store->db, &rows, err, auto_destroy_due, .max = MAX_AT_ONCE) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		struct turn turn = {.store = store, .workspace_id = row_of(auto_destroy_due, &rows, i)->id};
		struct err why = ERR_INIT;

		if (db_transaction(store->db, turn_run, &turn, &why) < 0 &&
			(sweep_failed(&failures, turn.workspace_id, &why, err) < 0 ||
				postpone(store, turn.workspace_id, err) < 0))
			return -1;
	}
	sweep_failures_note(&failures, "auto destroy");
	return 0;
}
