/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/runs.h"

#include "proto/mac.h"
#include "scheduler/lifecycle/queue.h"
#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/tasks/task_results.h"

void changes_init(struct changes *changes, const char *now)
{
	text_copy(changes->now, sizeof(changes->now), now);
	changes->runs_new = json_array();
	changes->operations_new = json_array();
	changes->runs = json_array();
	changes->inputs = json_array();
	changes->holds = json_array();
	changes->jobs_new = json_array();
	changes->jobs_again = json_array();
	changes->jobs_stopped = json_array();
	changes->jobs_ended = json_array();
	changes->states = json_array();
	changes->task_stages = json_array();
	changes->policies = json_array();
	changes->costs = json_array();
	changes->operations = json_array();
	changes->workspaces = json_array();
	changes->ended = json_array();
	changes->comments = json_array();
	changes->events = json_array();
	changes->audits = json_array();
	changes->notifications = json_array();
	changes->watched = false;
	outbox_init(&changes->outbox);
}

void changes_release(struct changes *changes)
{
	json_decref(changes->runs_new);
	json_decref(changes->operations_new);
	json_decref(changes->runs);
	json_decref(changes->inputs);
	json_decref(changes->holds);
	json_decref(changes->jobs_new);
	json_decref(changes->jobs_again);
	json_decref(changes->jobs_stopped);
	json_decref(changes->jobs_ended);
	json_decref(changes->states);
	json_decref(changes->task_stages);
	json_decref(changes->policies);
	json_decref(changes->costs);
	json_decref(changes->operations);
	json_decref(changes->workspaces);
	json_decref(changes->ended);
	json_decref(changes->comments);
	json_decref(changes->events);
	json_decref(changes->audits);
	json_decref(changes->notifications);
	outbox_release(&changes->outbox);
}

/* ---- rows of runs, and of their plans and applies ---- */

/* Merges the row into the one with its id in `fresh`, or appends it to `rows`. Takes it. */
static void rows_merge(json_t *fresh, json_t *rows, json_t *row)
{
	json_t *there, *times = json_object_get(row, "times");
	size_t i;

	json_array_foreach(fresh, i, there)
	{
		if (!text_equal(json_string_at(there, "id"), json_string_at(row, "id")))
			continue;
		json_object_update_missing(times, json_object_get(there, "times"));
		json_object_update(there, row);
		json_decref(row);
		return;
	}
	json_array_append_new(rows, row);
}

/* The columns that a decision may change. */
static json_t *run_columns(const struct id *id, const struct run *run, json_t *times)
{
	return json_pack("{ss ss ss sb sb sb si sb sb so}", "id", id->text, "status", run_statuses[run->status].name,
		"stage", stages[run->stage].name, "has_changes", run->has_changes, "queued", run->queued, "underway",
		run->underway, "stopping", run->stopping, "holds", run_holds(run), "ended", run_ended(run), "times",
		times);
}

static void add_run(struct changes *changes, const struct run_change *change)
{
	const struct verdict *verdict = change->verdict;
	json_t *times = json_object();

	for (size_t i = 0; i < verdict->reached_count; i++)
		json_object_set_new(times, run_statuses[verdict->reached[i]].timestamp, json_string(changes->now));
	rows_merge(changes->runs_new, changes->runs, run_columns(&change->row->id, &verdict->run, times));
}

static json_t *event_new(const char *run_id, const char *action, const char *actor)
{
	return json_pack("{ss ss ss ss so}", "id", id_new("re").text, "run_id", run_id, "action", action, "description",
		"", "actor_id", json_string_or_null(actor));
}

static void add_new_operation(struct changes *changes, const struct id *run, enum stage stage)
{
	json_array_append_new(changes->operations_new,
		json_pack("{ss ss ss s{} sb}", "id", id_sibling(run->text, stages[stage].name).text, "run_id",
			run->text, "status", operation_status_name(OPERATION_PENDING), "times", "over", 0));
}

void changes_create(struct changes *changes, const struct run_row *row, const char *actor)
{
	const struct run *run = &row->run;
	json_t *columns =
		run_columns(&row->id, run, json_pack("{ss}", run_statuses[run->status].timestamp, changes->now));

	json_object_update_new(columns,
		json_pack("{ss ss si sb sb sb sb}", "workspace_id", row->workspace.text, "organization_id",
			row->organization.text, "stages", (int)run->stages, "plan_only", run->plan_only, "save_plan",
			run->save_plan, "auto_apply", run->auto_apply, "allow_empty_apply", run->allow_empty_apply));
	json_array_append_new(changes->runs_new, columns);
	add_new_operation(changes, &row->id, STAGE_PLAN);
	add_new_operation(changes, &row->id, STAGE_APPLY);
	json_array_append_new(changes->events, event_new(row->id.text, "created", actor));
}

/* ---- other rows that a decision changes ---- */

static void add_input(struct changes *changes, const struct run_change *change)
{
	bool by_person = change->event == EV_CONFIRMED || change->event == EV_CANCELED;
	const char *error = change->verdict->run.status == RUN_ERRORED ? change->reason : NULL;

	if (!error && !(by_person && change->actor))
		return;
	json_array_append_new(changes->inputs,
		json_pack("{ss so so so}", "run_id", change->row->id.text, "error", json_string_or_null(error),
			"confirmed_by", json_string_or_null(change->event == EV_CONFIRMED ? change->actor : NULL),
			"canceled_by", json_string_or_null(change->event == EV_CANCELED ? change->actor : NULL)));
}

static void add_new_job(struct changes *changes, const struct run_change *change)
{
	const struct run_row *row = change->row;
	const struct run *run = &change->verdict->run;
	struct id job = id_new("job");

	json_array_append_new(changes->jobs_new,
		json_pack("{ss ss ss ss ss ss si}", "id", job.text, "run_id", row->id.text, "workspace_id",
			row->workspace.text, "organization_id", row->organization.text, "pool_id", row->pool.text,
			"stage", stages[run->stage].name, "class",
			(int)job_class_of(run->stage == STAGE_APPLY, run->plan_only)));
	outbox_add_message(&changes->outbox, row->pool.text, job.text, row->id.text);
}

static void add_stop(struct changes *changes, const struct run_change *change)
{
	struct job_stop stop = {
		.job = change->row->job.id,
		.attempt = change->row->job.attempt,
		.stop = change->verdict->run.stopping,
	};

	json_array_append_new(changes->jobs_stopped, json_pack("{ss si}", "id", stop.job.text, "stop", stop.stop));
	job_stop_sign(&stop, change->row->token_hash);
	outbox_add(&changes->outbox, topics[TOPIC_CONTROL].name, NULL, job_stop_encode(&stop));
}

static void add_jobs(struct changes *changes, const struct run_change *change)
{
	const struct verdict *verdict = change->verdict;
	const char *job = change->row->job.id.text;

	if (verdict->holds_workspace)
		json_array_append_new(changes->holds,
			json_pack("{ss ss sb}", "job", job, "event", id_new("re").text, "engine_ended",
				change->event != EV_LOST));
	if (verdict->ends_job && *job)
		json_array_append_new(changes->jobs_ended, json_string(job));
	/* The last state of the apply is known now. After the worker was lost, it is the last one received. */
	if (verdict->ends_job && *job && change->row->run.stage == STAGE_APPLY)
		json_array_append_new(
			changes->states, json_pack("{ss sb}", "job_id", job, "recovered", change->event == EV_LOST));
	if (verdict->starts && stages[verdict->run.stage].doer == BY_WORKER)
		add_new_job(changes, change);
	if (verdict->retries) {
		json_array_append_new(
			changes->jobs_again, json_pack("{ss sb}", "id", job, "lost", change->event == EV_LOST));
		outbox_add_message(&changes->outbox, change->row->pool.text, job, change->row->id.text);
	}
	if (verdict->signals)
		add_stop(changes, change);
}

static json_t *mark_time(const struct changes *changes, const char *word)
{
	_cleanup_(freep) char *key = mem_printf("%s-at", word);

	return json_pack("{ss}", key, changes->now);
}

static void add_operation(
	struct changes *changes, const struct run_change *change, enum stage stage, enum operation_status status)
{
	/* The counts belong to the stage that the result is of. */
	const struct job_result *result = stage == change->row->run.stage ? change->result : NULL;
	/* A plan or apply has no status "failed": clients wait for one of the statuses they know. */
	const char *name = operation_status_name(status == OPERATION_FAILED ? OPERATION_ERRORED : status);
	json_t *row = json_pack("{ss ss so sb}", "id", id_sibling(change->row->id.text, stages[stage].name).text,
		"status", name, "times", mark_time(changes, status == OPERATION_RUNNING ? "started" : name), "over",
		status >= OPERATION_FINISHED);

	if (result)
		json_object_update_new(row,
			json_pack("{si si si si ss}", "additions", result->additions, "changes", result->changes,
				"destructions", result->destructions, "imports", result->imports, "version",
				result->terraform_version));
	rows_merge(changes->operations_new, changes->operations, row);
}

/* The statuses of other stages' objects, in the order of enum operation_status. */
static const char *const task_stage_words[] = {
	"pending", "running", "running", "passed", "failed", "passed", "errored", "canceled", "unreachable"};

static const char *const policy_words[] = {
	"pending", "queued", "running", "passed", "failed", "overridden", "errored", "canceled", "unreachable"};

static const char *const cost_words[] = {
	"pending", "queued", "queued", "finished", "errored", "finished", "errored", "canceled", "unreachable"};

/* Statuses of the post_plan task stage while OPA's evaluation, which is a part of it, runs. */
static const char *const task_stage_opa_words[] = {
	"pending", "running", "running", "passed", "awaiting_override", "passed", "errored", "canceled", "unreachable"};

/* The location of a stage's own object, if it is not an operation. */
static const struct {
	size_t offset; /* of the array in struct changes */
	const char *const *words;
} homes[STAGE_COUNT] = {
	[STAGE_PRE_PLAN] = {offsetof(struct changes, task_stages), task_stage_words},
	[STAGE_PRE_APPLY] = {offsetof(struct changes, task_stages), task_stage_words},
	[STAGE_POST_APPLY] = {offsetof(struct changes, task_stages), task_stage_words},
	[STAGE_OPA] = {offsetof(struct changes, policies), policy_words},
	[STAGE_COST] = {offsetof(struct changes, costs), cost_words},
	[STAGE_SENTINEL] = {offsetof(struct changes, policies), policy_words},
};

static void add_row(struct changes *changes, const struct run_change *change, json_t *rows, enum stage stage,
	const char *word, bool over)
{
	json_array_append_new(rows,
		json_pack("{ss ss ss so sb so so}", "run_id", change->row->id.text, "stage", stages[stage].name,
			"status", word, "times", mark_time(changes, word), "over", over, "reason",
			json_string_or_null(change->reason), "actor",
			json_string_or_null(change->event == EV_OVERRIDDEN ? change->actor : NULL)));
}

/*
 * The post_plan task stage covers two stages of the run: its tasks, then OPA's evaluation. It ends with the second of
 * them. Only one of the two sets its status at a time.
 */
static bool post_plan_goes_on(const struct verdict *verdict, enum stage stage, enum operation_status status)
{
	bool both = verdict->run.stages & STAGE_BIT(STAGE_OPA) && verdict->run.stages & STAGE_BIT(STAGE_POST_PLAN);

	if (stage == STAGE_POST_PLAN)
		return both && (status == OPERATION_FINISHED || status == OPERATION_UNREACHABLE);
	return both && status == OPERATION_UNREACHABLE && run_ended(&verdict->run) && verdict->mark_count &&
		verdict->marks[0].stage == STAGE_POST_PLAN && verdict->marks[0].status != OPERATION_UNREACHABLE;
}

static void add_post_plan(
	struct changes *changes, const struct run_change *change, enum stage stage, enum operation_status status)
{
	const char *const *words = stage == STAGE_OPA ? task_stage_opa_words : task_stage_words;
	const char *word = words[status];

	if (post_plan_goes_on(change->verdict, stage, status))
		return;
	/* A run that has ended can't be overridden. */
	if (stage == STAGE_OPA && status == OPERATION_FAILED && run_ended(&change->verdict->run))
		word = "failed";
	add_row(changes, change, changes->task_stages, STAGE_POST_PLAN, word,
		status >= OPERATION_FINISHED && (stage == STAGE_POST_PLAN || run_ended(&change->verdict->run)));
}

/* The status of a policy check says whether the failure can be overridden: if not, the run has errored. */
static const char *word_of(const struct run_change *change, enum stage stage, enum operation_status status)
{
	if (stage == STAGE_SENTINEL && status == OPERATION_FAILED)
		return change->verdict->run.status == RUN_ERRORED ? "hard_failed" : "soft_failed";
	return homes[stage].words[status];
}

static void add_mark(
	struct changes *changes, const struct run_change *change, enum stage stage, enum operation_status status)
{
	json_t *rows;

	if (stage == STAGE_PLAN || stage == STAGE_APPLY) {
		add_operation(changes, change, stage, status);
		return;
	}
	if (stage == STAGE_OPA || stage == STAGE_POST_PLAN)
		add_post_plan(changes, change, stage, status);
	if (!homes[stage].words)
		return;
	rows = *(json_t **)((char *)changes + homes[stage].offset);
	add_row(changes, change, rows, stage, word_of(change, stage, status), status >= OPERATION_FINISHED);
}

static void add_marks(struct changes *changes, const struct run_change *change)
{
	for (size_t i = 0; i < change->verdict->mark_count; i++)
		add_mark(changes, change, change->verdict->marks[i].stage, change->verdict->marks[i].status);
}

static void add_workspace(struct changes *changes, const struct run_change *change)
{
	bool held = run_holds(&change->row->run), holds = run_holds(&change->verdict->run);

	if (run_ended(&change->verdict->run) && !run_ended(&change->row->run)) {
		json_array_append_new(changes->ended,
			json_pack("{ss ss sb}", "workspace", change->row->workspace.text, "run", change->row->id.text,
				"failed", change->verdict->run.status == RUN_ERRORED));
		return;
	}
	if (held == holds)
		return;
	json_array_append_new(changes->workspaces,
		json_pack("{ss so}", "id", change->row->workspace.text, "current",
			json_string_or_null(holds ? change->row->id.text : NULL)));
}

static const char *add_comment(struct changes *changes, const struct run_change *change, struct id *ret_id)
{
	if (!change->comment || !*change->comment)
		return NULL;
	*ret_id = id_new("wsc");
	json_array_append_new(changes->comments,
		json_pack("{ss ss ss so}", "id", ret_id->text, "run_id", change->row->id.text, "body", change->comment,
			"created_by", json_string_or_null(change->actor)));
	return ret_id->text;
}

static void add_events(struct changes *changes, const struct run_change *change)
{
	struct run_changed changed = {.run = change->row->id,
		.workspace = change->row->workspace,
		.organization = change->row->organization,
		.at = changes->now};
	struct id id = {""};
	const char *comment = add_comment(changes, change, &id);
	json_t *event = event_new(change->row->id.text, run_event_name(change->event), change->actor);

	json_object_set_new(event, "description", json_string(text_or_empty(change->reason)));
	json_object_set_new(event, "comment_id", json_string_or_null(comment));
	json_array_append_new(changes->events, event);
	if (!change->verdict->reached_count)
		return;
	changed.status = run_statuses[change->verdict->run.status].name;
	outbox_add(&changes->outbox, topics[TOPIC_EVENTS].name, changed.run.text, run_changed_encode(&changed));
}

/* Audits the end of a run without a user's request: the actor is the scheduler. */
static void add_audit(struct changes *changes, const struct run_change *change)
{
	if (change->actor || !run_ended(&change->verdict->run) || run_ended(&change->row->run))
		return;
	json_array_append_new(changes->audits,
		json_pack("{ss ss ss ss}", "run", change->row->id.text, "workspace", change->row->workspace.text,
			"organization", change->row->organization.text, "action",
			run_statuses[change->verdict->run.status].name));
}

static void add_notification(struct changes *changes, const struct run_change *change)
{
	enum trigger trigger = trigger_of(change->verdict);

	if (changes->watched && trigger != TRIGGER_COUNT)
		notification_event_add(changes->notifications,
			&(struct notification_event){.run_id = change->row->id.text,
				.workspace_id = change->row->workspace.text,
				.trigger = trigger,
				.status = change->verdict->run.status,
				.at = changes->now,
				.actor = change->actor});
}

void changes_add(struct changes *changes, const struct run_change *change)
{
	add_run(changes, change);
	add_input(changes, change);
	add_jobs(changes, change);
	add_marks(changes, change);
	add_workspace(changes, change);
	add_events(changes, change);
	add_audit(changes, change);
	add_notification(changes, change);
}

/* The duration of a finished plan or apply; null for any other. */
#define MILLISECONDS(operation)                                                                                        \
	"1000 * extract(epoch from (" operation ".status_timestamps->>'finished-at')::timestamptz - (" operation       \
	".status_timestamps->>'started-at')::timestamptz)"
#define PLAN_TOOK  MILLISECONDS("p")
#define APPLY_TOOK MILLISECONDS("a")

/* clang-format off: it would align the lines after a macro with its end */
static const char ended_sql[] =
	"with u as (select e.workspace, count(*) as ended, array_agg(e.run) as runs, array_agg(" PLAN_TOOK
	") as plans, "
	"array_agg(" APPLY_TOOK ") as applies, array_agg(e.failed) as failed, "
	"array_agg((select true from policy_evaluations v where v.run_id = e.run and v.status in ('failed', "
	"'hard_failed', 'soft_failed', 'overridden') limit 1) is not null) as policies from "
	"jsonb_to_recordset($1::jsonb) as e(workspace text, run text, failed boolean) "
	"join operations p on p.id = 'plan' || substr(e.run, 4) "
	"join operations a on a.id = 'apply' || substr(e.run, 4) group by e.workspace), "
	"k as (insert into workspace_last_runs as l (workspace_id, plans, applies, failed, policies_failed) "
	"select workspace, plans::bigint[], applies::bigint[], failed, policies from u "
	"on conflict (workspace_id) do update set plans = (excluded.plans || l.plans)[1:30], "
	"applies = (excluded.applies || l.applies)[1:30], failed = (excluded.failed || l.failed)[1:30], "
	"policies_failed = (excluded.policies_failed || l.policies_failed)[1:30] returning *) "
	"update workspaces w set run_count = w.run_count + u.ended, "
	"current_run_id = case when w.current_run_id = any(u.runs) then null else w.current_run_id end, "
	"run_failures = cardinality(array_positions(k.failed, true)), "
	"policy_failures = cardinality(array_positions(k.policies_failed, true)), "
	"plan_milliseconds = coalesce((select round(avg(m)) from unnest(k.plans) m), 0), "
	"apply_milliseconds = coalesce((select round(avg(m)) from unnest(k.applies) m), 0) "
	"from u join k on k.workspace_id = u.workspace where w.id = u.workspace";
/* clang-format on */

struct save {
	size_t offset; /* of the rows in struct changes */
	const char *sql;
};

static const struct save saves_new[] = {
	{offsetof(struct changes, runs_new),
		"insert into runs (id, workspace_id, organization_id, status, stage, stages, plan_only, save_plan, "
		"auto_apply, allow_empty_apply, has_changes, queued, underway, stopping, holds, ended, "
		"status_timestamps) select id, workspace_id, organization_id, status, stage, stages, plan_only, "
		"save_plan, auto_apply, allow_empty_apply, has_changes, queued, underway, stopping, holds, ended, "
		"times "
		"from jsonb_to_recordset($1::jsonb) as u(id text, workspace_id text, organization_id text, status "
		"text, "
		"stage text, stages integer, plan_only boolean, save_plan boolean, auto_apply boolean, "
		"allow_empty_apply boolean, has_changes boolean, queued boolean, underway boolean, stopping smallint, "
		"holds boolean, ended boolean, times jsonb)"},
	{offsetof(struct changes, operations_new),
		"insert into operations (id, run_id, status, status_timestamps, log_ended) select id, run_id, status, "
		"times, over from jsonb_to_recordset($1::jsonb) as u(id text, run_id text, status text, times jsonb, "
		"over boolean)"},
};

/*
 * The order matters:
 *  - Ended jobs before new ones: a run has at most one job.
 *  - Runs before workspaces: the end of a run releases its workspace.
 *  - Operations in the order of ids, the order in which uploads lock them: they have no other common lock.
 */
static const struct save saves[] = {
	{offsetof(struct changes, jobs_ended),
		"delete from jobs where id in (select id from jobs where id in "
		"(select jsonb_array_elements_text($1::jsonb)) order by id for update)"},
	{offsetof(struct changes, runs),
		"update runs r set status = u.status, stage = u.stage, has_changes = u.has_changes, queued = u.queued, "
		"underway = u.underway, stopping = u.stopping, holds = u.holds, ended = u.ended, "
		"status_timestamps = r.status_timestamps || u.times, updated_at = now(), "
		"canceled_at = case when u.stopping > 0 or u.status = 'canceled' then coalesce(r.canceled_at, now()) "
		"else r.canceled_at end, "
		"force_cancel_available_at = case when u.stopping > 0 or u.status = 'canceled' "
		"then coalesce(r.force_cancel_available_at, now() + interval '10 seconds') "
		"else r.force_cancel_available_at end "
		"from jsonb_to_recordset($1::jsonb) as u(id text, status text, stage text, has_changes boolean, "
		"queued boolean, underway boolean, stopping smallint, holds boolean, ended boolean, times jsonb) "
		"where r.id = u.id"},
	{offsetof(struct changes, inputs),
		"update run_inputs i set error = coalesce(u.error, i.error), "
		"confirmed_by = coalesce(u.confirmed_by, i.confirmed_by), "
		"canceled_by = coalesce(u.canceled_by, i.canceled_by) from jsonb_to_recordset($1::jsonb) "
		"as u(run_id text, error text, confirmed_by text, canceled_by text) where i.run_id = u.run_id"},
	{offsetof(struct changes, jobs_new),
		"insert into jobs (id, run_id, workspace_id, organization_id, pool_id, stage, class, needs) "
		"select u.id, u.run_id, u.workspace_id, u.organization_id, u.pool_id, u.stage, u.class, "
		"coalesce(case when u.stage = 'plan' then 'engine ' || i.terraform_version when u.stage <> 'apply' "
		"then u.stage when p.engine <> '' then p.engine || ' ' || p.terraform_version end, '') from "
		"jsonb_to_recordset($1::jsonb) as u(id text, run_id text, workspace_id text, organization_id text, "
		"pool_id text, stage text, class smallint) left join run_inputs i on i.run_id = u.run_id "
		"left join operations p on p.id = 'plan' || substr(u.run_id, 4)"},
	{offsetof(struct changes, jobs_again),
		"update jobs j set state = 'waiting', attempt = attempt + 1, started = false, stop = 0, worker_id = "
		"null, token_hash = null, lease_until = null, announced_at = now(), deadline = null, lost_with = case "
		"when u.lost then "
		"j.lost_with || coalesce((select name from workers where id = j.worker_id), j.worker_id) else "
		"j.lost_with end from jsonb_to_recordset($1::jsonb) as u(id text, lost boolean) where j.id = u.id"},
	{offsetof(struct changes, jobs_stopped),
		"update jobs j set stop = u.stop from jsonb_to_recordset($1::jsonb) as u(id text, stop smallint) "
		"where j.id = u.id"},
	{offsetof(struct changes, states),
		"update state_versions s set intermediate = false, recovered = u.recovered "
		"from jsonb_to_recordset($1::jsonb) as u(job_id text, recovered boolean) where s.job_id = u.job_id"},
	{offsetof(struct changes, operations),
		"update operations o set status = u.status, status_timestamps = o.status_timestamps || u.times, "
		"log_ended = o.log_ended or u.over, additions = coalesce(u.additions, o.additions), "
		"changes = coalesce(u.changes, o.changes), destructions = coalesce(u.destructions, o.destructions), "
		"imports = coalesce(u.imports, o.imports), terraform_version = coalesce(u.version, "
		"o.terraform_version) "
		"from (select * from jsonb_to_recordset($1::jsonb) as u(id text, status text, times jsonb, over "
		"boolean, additions integer, changes integer, destructions integer, imports integer, version text) "
		"order by id) u where o.id = u.id"},
	{offsetof(struct changes, task_stages),
		"update task_stages t set status = u.status, status_timestamps = t.status_timestamps || u.times, "
		"updated_at = now() from jsonb_to_recordset($1::jsonb) as u(run_id text, stage text, status text, "
		"times jsonb) where t.run_id = u.run_id and t.stage = u.stage"},
	{offsetof(struct changes, policies),
		"update policy_evaluations e set status = u.status, overridden_by = coalesce(u.actor, "
		"e.overridden_by), status_timestamps = e.status_timestamps || "
		"u.times, "
		"updated_at = now() from jsonb_to_recordset($1::jsonb) as u(run_id text, stage text, status text, "
		"times jsonb, actor text) where e.run_id = u.run_id and e.kind = u.stage "
		"and not (e.status = 'failed' and u.status = 'canceled')"},
	{offsetof(struct changes, costs),
		"update cost_estimates c set status = u.status, status_timestamps = c.status_timestamps || u.times, "
		"error_message = case when u.status = 'errored' then coalesce(c.error_message, nullif(u.reason, '')) "
		"else c.error_message end from jsonb_to_recordset($1::jsonb) as u(run_id text, status text, "
		"times jsonb, reason text) where c.run_id = u.run_id"},
	{offsetof(struct changes, workspaces),
		"update workspaces w set current_run_id = u.current, latest_run_id = coalesce(u.current, "
		"w.latest_run_id) "
		"from jsonb_to_recordset($1::jsonb) as u(id text, current text) where w.id = u.id"},
	{offsetof(struct changes, ended), ended_sql},
	{offsetof(struct changes, comments),
		"insert into comments (id, run_id, body, created_by) select id, run_id, body, created_by "
		"from jsonb_to_recordset($1::jsonb) as u(id text, run_id text, body text, created_by text)"},
	{offsetof(struct changes, events),
		"insert into run_events (id, run_id, action, description, actor_id, comment_id) "
		"select id, run_id, action, description, actor_id, comment_id from jsonb_to_recordset($1::jsonb) "
		"as u(id text, run_id text, action text, description text, actor_id text, comment_id text)"},
	{offsetof(struct changes, audits),
		"insert into audit_events (id, organization_id, actor_type, actor_name, request_id, action, "
		"resource_type, resource_id, workspace_id) select gen_random_uuid(), organization, 'system', "
		"'runyard-scheduler', gen_random_uuid(), action, 'run', run, workspace from "
		"jsonb_to_recordset($1::jsonb) as u(run text, workspace text, organization text, action text)"},
};

static int rows_write(struct store *store, json_t *rows, const char *sql, struct err *err)
{
	if (!json_array_size(rows))
		return 0;
	_cleanup_(freep) char *text = json_text(rows);
	return db_queue(store->db, err, sql, P_TEXT(text));
}

static json_t *rows_of(const struct changes *changes, const struct save *save)
{
	return *(json_t **)((char *)changes + save->offset);
}

int changes_save_new(struct store *store, struct changes *changes, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(saves_new); i++) {
		if (rows_write(store, rows_of(changes, &saves_new[i]), saves_new[i].sql, err) < 0)
			return -1;
		json_array_clear(rows_of(changes, &saves_new[i]));
	}
	return 0;
}

/* Begins holds first: they read the job's row, which is deleted later. */
int changes_save(struct store *store, struct changes *changes, struct err *err)
{
	if (changes_save_new(store, changes, err) < 0 || holds_begin(store, changes->holds, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(saves); i++)
		if (rows_write(store, rows_of(changes, &saves[i]), saves[i].sql, err) < 0)
			return -1;
	if (task_results_follow(store, changes->task_stages, &changes->outbox, err) < 0 ||
		notifications_put_up(store, changes->notifications, &changes->outbox, err) < 0)
		return -1;
	return outbox_insert(store, &changes->outbox, err);
}
