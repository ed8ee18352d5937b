/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_results.h"

#include "proto/states.h"
#include "scheduler/store/store.h"

/* Creates the run's task stages and results; returns the stage of each. Tasks are found in the indexes of the workspace
 * and of the organization.
 *
 * Every enabled run task of the workspace, and every global one of the organization that is not attached to the
 * workspace, once for each of its stages. After an apply, a task is always advisory.
 */
static const char create_sql[] =
	"with due as ("
	"select t.id, t.name, t.url, t.hmac_sealed, wt.id as workspace_task_id, wt.enforcement, unnest(wt.stages) as "
	"stage "
	"from workspace_tasks wt join tasks t on t.id = wt.task_id where wt.workspace_id = $2 and t.enabled "
	"union all "
	"select t.id, t.name, t.url, t.hmac_sealed, null, t.global_enforcement, unnest(t.global_stages) "
	"from workspaces w join tasks t on t.organization_id = w.organization_id where w.id = $2 and t.enabled "
	"and t.global_enabled and not exists (select 1 from workspace_tasks x where x.task_id = t.id "
	"and x.workspace_id = w.id)), "
	"made as (insert into task_stages (id, run_id, stage) "
	"select 'ts-' || substr(md5($1 || s.stage), 1, 16), $1, s.stage from (select distinct stage from due) s "
	"returning id, stage) "
	"insert into task_results (id, task_stage_id, run_id, stage, task_id, workspace_task_id, task_name, task_url, "
	"enforcement, hmac_sealed) select 'taskrs-' || substr(md5($1 || d.stage || d.id), 1, 16), m.id, $1, d.stage, "
	"d.id, "
	"d.workspace_task_id, d.name, d.url, "
	"case d.stage when 'post_apply' then 'advisory' else d.enforcement end, d.hmac_sealed "
	"from due d join made m on m.stage = d.stage returning stage";

int task_results_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, create_sql, P_TEXT(run_id), P_TEXT(workspace_id)) < 0)
		return -1;
	*ret_stages = 0;
	for (int i = 0; i < rows.count; i++)
		*ret_stages |= STAGE_BIT(stage_parse(row_text(&rows, i, "stage")));
	return 0;
}

static int results_put_up(struct store *store, const char *task_stages, struct outbox *outbox, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update task_results r set delivery = 'waiting', give_up_at = now() + make_interval(secs => $2), "
		    "updated_at = now() from jsonb_to_recordset($1::jsonb) as u(run_id text, stage text, status text) "
		    "where u.status = 'running' and r.run_id = u.run_id and r.stage = u.stage and r.delivery = 'none' "
		    "returning r.id, r.run_id",
		    P_TEXT(task_stages), P_INT(store->settings->task_limits.delivery_seconds)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		outbox_add_task(outbox, row_text(&rows, i, "id"), row_text(&rows, i, "run_id"));
	return 0;
}

int task_results_follow(struct store *store, const json_t *task_stages, struct outbox *outbox, struct err *err)
{
	if (!json_array_size(task_stages))
		return 0;
	_cleanup_(freep) char *text = json_text(task_stages);
	if (results_put_up(store, text, outbox, err) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"update task_results r set status = case u.status when 'unreachable' then 'unreachable' else "
		"'canceled' end, "
		"status_timestamps = r.status_timestamps || u.times, delivery = 'over', reported = "
		"null, "
		"updated_at = now() from jsonb_to_recordset($1::jsonb) as u(run_id text, stage text, status text, "
		"times jsonb, "
		"over boolean) where u.over and r.run_id = u.run_id and r.stage = u.stage "
		"and r.status in ('pending', 'running')",
		P_TEXT(text));
}

void task_result_tell(struct outbox *outbox, const struct rows *rows, int row)
{
	const struct run_part_changed changed = {.run = row_text(rows, row, "run_id"),
		.workspace = row_text(rows, row, "workspace_id"),
		.organization = row_text(rows, row, "organization_id"),
		.part = "task-result",
		.id = row_text(rows, row, "id")};

	outbox_add(outbox, topics[TOPIC_EVENTS].name, changed.run, run_part_changed_encode(&changed));
}
