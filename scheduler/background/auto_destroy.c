/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/auto_destroy.h"

#include "common/log.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/notifications/notifications.h"

enum { MAX_AT_ONCE = 100, AGAIN_SECONDS = 60 };

struct turn {
	struct store *store;
	const char *workspace_id;
};

/* The duration after the last change of workspace `w` in project `j`; null if none is set. */
#define DESTROY_AFTER                                                                                                  \
	"replace(replace(case when coalesce((w.settings->>'inherits-project-auto-destroy')::boolean, true) then "      \
	"j.settings else w.settings end->>'auto-destroy-activity-duration', 'd', ' days'), 'h', ' hours')::interval"

static int tell(struct turn *turn, const struct rows *rows, const char *action, struct err *err)
{
	char request[AUDIT_UUID_SIZE];
	const struct audit_event event = {.organization = row_text(rows, 0, "organization_id"),
		.actor_type = "system",
		.request = request,
		.action = action,
		.resource_type = "workspace",
		.resource_id = turn->workspace_id,
		.workspace = row_text(rows, 0, "name")};

	audit_uuid(request);
	return audit_write(turn->store, &event, err);
}

static int destroy(struct turn *turn, const struct rows *rows, struct err *err)
{
	_cleanup_(freep) char *message =
		mem_printf("Destroyed automatically: its time was %s", row_text(rows, 0, "due"));
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
		return tell(turn, rows, "auto_destroy", err);
	}
	if (refused.kind == ERR_INVALID) {
		log_warn("can't be destroyed automatically", "workspace", turn->workspace_id, "why", refused.message,
			NULL);
		return tell(turn, rows, "auto_destroy_refused", err);
	}
	*err = refused;
	return -1;
}

/* Reminders are due a day and half a day before. A reminder that was not sent within an hour is dropped. */
#define REMINDER                                                                                                       \
	"(select max(x) from unnest(array[d.at - interval '24 hours', d.at - interval '12 hours']) x "                 \
	"where x <= now() and x > now() - interval '1 hour' and x is distinct from w.destroy_reminded)"

static int remind(const struct turn *turn, const struct rows *rows, struct err *err)
{
	if (row_null(rows, 0, "reminder") || !row_bool(rows, 0, "manages"))
		return 0;
	log_info("reminded of its automatic destruction", "workspace", turn->workspace_id, "due",
		row_text(rows, 0, "due"), NULL);
	return notification_reminder_put_up(turn->store, turn->workspace_id, row_text(rows, 0, "at"), err);
}

/* Runs under the workspace's lock, which orders it with other schedulers and with changes of the settings. */
static int turn_run(void *data, struct err *err)
{
	struct turn *turn = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(turn->store->db, &rows, err,
		    "select w.name, w.organization_id, d.at <= now() as over, w.resource_count > 0 as manages, "
		    "d.at, " REMINDER " as reminder, "
		    "to_char(d.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI \"UTC\"') as due from workspaces w "
		    "join projects j on j.id = w.project_id "
		    "cross join lateral (select coalesce((w.settings->>'auto-destroy-at')::timestamptz, "
		    "w.latest_change_at + " DESTROY_AFTER ") as at) d "
		    "where w.id = $1 and w.destroy_check_at <= now() for no key update of w skip locked",
		    P_TEXT(turn->workspace_id)) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (remind(turn, &rows, err) < 0)
		return -1;
	if (row_bool(&rows, 0, "over") && row_bool(&rows, 0, "manages") && destroy(turn, &rows, err) < 0)
		return -1;
	/* The first update's trigger considers only the settings. The second update computes the next time of a
	 * duration. */
	if (row_bool(&rows, 0, "over") &&
		db_query(turn->store->db, NULL, err,
			"update workspaces set settings = settings - 'auto-destroy-at' where id = $1",
			P_TEXT(turn->workspace_id)) < 0)
		return -1;
	return db_query(turn->store->db, NULL, err,
		"update workspaces w set destroy_check_at = workspace_destroy_next(coalesce((w.settings->>"
		"'auto-destroy-at')::timestamptz, greatest(w.latest_change_at, case when $2 then now() end) "
		"+ " DESTROY_AFTER ")), destroy_reminded = coalesce($3::timestamptz, w.destroy_reminded) "
		"from projects j where j.id = w.project_id and w.id = $1",
		P_TEXT(turn->workspace_id), P_BOOL(row_bool(&rows, 0, "over")), P_TEXT(row_text(&rows, 0, "reminder")));
}

/* Sets the time of the next try, so that a workspace that fails does not stay at the head of the sweep. */
static int postpone(struct store *store, const char *workspace_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update workspaces set destroy_check_at = now() + make_interval(secs => $2) where id = (select id from "
		"workspaces where id = $1 and destroy_check_at <= now() for no key update skip locked)",
		P_TEXT(workspace_id), P_INT(AGAIN_SECONDS));
}

int auto_destroy_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};

	if (db_query(store->db, &rows, err,
		    "select id from workspaces where destroy_check_at <= now() and (select reason is null from "
		    "maintenance) order by destroy_check_at limit $1",
		    P_INT(MAX_AT_ONCE)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		struct turn turn = {.store = store, .workspace_id = row_text(&rows, i, "id")};
		struct err why = ERR_INIT;

		if (db_transaction(store->db, turn_run, &turn, &why) < 0 &&
			(sweep_failed(&failures, turn.workspace_id, &why, err) < 0 ||
				postpone(store, turn.workspace_id, err) < 0))
			return -1;
	}
	sweep_failures_note(&failures, "auto destroy");
	return 0;
}
