/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/changes.h"

#include "proto/mac.h"
#include "scheduler/lifecycle/queue.h"
#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/runs/changes.sql.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/tasks/task_results.h"
#include "scheduler/store/vcs/calls/reports.h"

void changes_init(struct changes *changes, const char *now)
{
	text_copy(changes->now, sizeof(changes->now), now);
	for (size_t i = 0; i < CHANGED_COUNT; i++)
		changes->rows[i] = json_array();
	changes->watched = false;
	outbox_init(&changes->outbox);
}

void changes_release(struct changes *changes)
{
	for (size_t i = 0; i < CHANGED_COUNT; i++)
		json_decref(changes->rows[i]);
	outbox_release(&changes->outbox);
}

/* Takes the row. */
static void add_to(struct changes *changes, enum changed_rows rows, json_t *row)
{
	json_array_append_new(changes->rows[rows], row);
}

/* ---- rows of runs, and of their plans and applies ---- */

/* Merges the row into the new one with its id, or adds it to `rows`. Takes it. */
static void add_or_merge(struct changes *changes, enum changed_rows fresh, enum changed_rows rows, json_t *row)
{
	json_t *there, *times = json_object_get(row, "status_timestamps");
	size_t i;

	json_array_foreach(changes->rows[fresh], i, there)
	{
		if (!text_equal(json_string_at(there, "id"), json_string_at(row, "id")))
			continue;
		json_object_update_missing(times, json_object_get(there, "status_timestamps"));
		json_object_update(there, row);
		json_decref(row);
		return;
	}
	add_to(changes, rows, row);
}

/* The columns that a decision may change. */
static json_t *run_columns(const struct id *id, const struct run *run, json_t *times)
{
	return json_pack("{ss ss ss sb sb sb si sb sb so}", "id", id->text, "status", run_statuses[run->status].name,
		"stage", stages[run->stage].name, "has_changes", run->has_changes, "queued", run->queued, "underway",
		run->underway, "stopping", run->stopping, "holds", run_holds(run), "ended", run_ended(run),
		"status_timestamps", times);
}

static void add_run(struct changes *changes, const struct run_change *change)
{
	const struct verdict *verdict = change->verdict;
	json_t *times = json_object();

	for (size_t i = 0; i < verdict->reached_count; i++)
		json_object_set_new(times, run_statuses[verdict->reached[i]].timestamp, json_string(changes->now));
	add_or_merge(changes, CHANGED_NEW_RUNS, CHANGED_RUNS, run_columns(&change->row->id, &verdict->run, times));
}

static json_t *event_new(const char *run_id, const char *action, const char *actor)
{
	return json_pack("{ss ss ss ss so}", "id", id_new("re").text, "run_id", run_id, "action", action, "description",
		"", "actor_id", json_string_or_null(actor));
}

static void add_new_operation(struct changes *changes, const struct id *run, enum stage stage)
{
	add_to(changes, CHANGED_NEW_OPERATIONS,
		json_pack("{ss ss ss s{} sb}", "id", id_sibling(run->text, stages[stage].name).text, "run_id",
			run->text, "status", operation_status_name(OPERATION_PENDING), "status_timestamps", "log_ended",
			0));
}

void changes_create(struct changes *changes, const struct run_row *row, const char *actor)
{
	const struct run *run = &row->run;
	json_t *columns =
		run_columns(&row->id, run, json_pack("{ss}", run_statuses[run->status].timestamp, changes->now));

	json_object_update_new(columns,
		json_pack("{ss ss si sb sb sb sb sb sb sb}", "workspace_id", row->workspace.text, "organization_id",
			row->organization.text, "stages", (int)run->stages, "plan_only", run->plan_only, "assessment",
			run->assessment, "query", run->query, "test", run->test, "save_plan", run->save_plan,
			"auto_apply", run->auto_apply, "allow_empty_apply", run->allow_empty_apply));
	add_to(changes, CHANGED_NEW_RUNS, columns);
	add_new_operation(changes, &row->id, STAGE_PLAN);
	add_new_operation(changes, &row->id, STAGE_APPLY);
	add_to(changes, CHANGED_EVENTS, event_new(row->id.text, "created", actor));
}

/* ---- other rows that a decision changes ---- */

static void add_input(struct changes *changes, const struct run_change *change)
{
	bool by_person = change->event == EV_CONFIRMED || change->event == EV_CANCELED;
	const char *error = change->verdict->run.status == RUN_ERRORED ? change->reason : NULL;

	if (!error && !(by_person && change->actor))
		return;
	add_to(changes, CHANGED_INPUTS,
		json_pack("{ss so so so}", "run_id", change->row->id.text, "error", json_string_or_null(error),
			"confirmed_by", json_string_or_null(change->event == EV_CONFIRMED ? change->actor : NULL),
			"canceled_by", json_string_or_null(change->event == EV_CANCELED ? change->actor : NULL)));
}

static void add_new_job(struct changes *changes, const struct run_change *change)
{
	const struct run_row *row = change->row;
	const struct run *run = &change->verdict->run;
	enum job_class class = job_class_of(run);
	struct id job = id_new("job");

	add_to(changes, CHANGED_NEW_JOBS,
		json_pack("{ss ss ss ss ss ss si}", "id", job.text, "run_id", row->id.text, "workspace_id",
			row->workspace.text, "organization_id", row->organization.text, "pool_id", row->pool.text,
			"stage", stages[run->stage].name, "class", (int)class));
	outbox_add_job(&changes->outbox, row->pool.text, job.text, row->id.text, class);
}

static void add_stop(struct changes *changes, const struct run_change *change)
{
	struct job_stop stop = {
		.job = change->row->job.id,
		.attempt = change->row->job.attempt,
		.stop = change->verdict->run.stopping,
	};

	add_to(changes, CHANGED_STOPPED_JOBS, json_pack("{ss si}", "id", stop.job.text, "stop", stop.stop));
	job_stop_sign(&stop, change->row->token_hash);
	outbox_add(&changes->outbox, topics[TOPIC_CONTROL].name, NULL, job_stop_encode(&stop));
}

static void add_jobs(struct changes *changes, const struct run_change *change)
{
	const struct verdict *verdict = change->verdict;
	const char *job = change->row->job.id.text;

	/* Only a result proves that terraform has ended: after a lost lease or a fence it may still run. */
	if (verdict->holds_workspace)
		add_to(changes, CHANGED_HOLDS,
			json_pack("{ss ss sb}", "job", job, "event", id_new("re").text, "engine_ended",
				change->result != NULL));
	if (verdict->ends_job && *job)
		add_to(changes, CHANGED_ENDED_JOBS, json_pack("{ss}", "id", job));
	/* The last state of the apply is known now. After the worker was lost, it is the last one received. */
	if (verdict->ends_job && *job && change->row->run.stage == STAGE_APPLY)
		add_to(changes, CHANGED_STATES,
			json_pack("{ss sb}", "job_id", job, "recovered", change->event == EV_LOST));
	if (verdict->starts && stages[verdict->run.stage].doer == BY_WORKER)
		add_new_job(changes, change);
	if (verdict->retries) {
		add_to(changes, CHANGED_RETRIED_JOBS,
			json_pack("{ss sb}", "id", job, "lost", change->event == EV_LOST));
		outbox_add_job(&changes->outbox, change->row->pool.text, job, change->row->id.text,
			job_class_of(&verdict->run));
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
		"status", name, "status_timestamps", mark_time(changes, status == OPERATION_RUNNING ? "started" : name),
		"log_ended", status >= OPERATION_FINISHED);

	if (result)
		json_object_update_new(row,
			json_pack("{si si si si ss}", "additions", result->additions, "changes", result->changes,
				"destructions", result->destructions, "imports", result->imports, "terraform_version",
				result->terraform_version));
	add_or_merge(changes, CHANGED_NEW_OPERATIONS, CHANGED_OPERATIONS, row);
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
	enum changed_rows rows;
	const char *const *words;
} homes[STAGE_COUNT] = {
	[STAGE_PRE_PLAN] = {CHANGED_TASK_STAGES, task_stage_words},
	[STAGE_PRE_APPLY] = {CHANGED_TASK_STAGES, task_stage_words},
	[STAGE_POST_APPLY] = {CHANGED_TASK_STAGES, task_stage_words},
	[STAGE_OPA] = {CHANGED_POLICIES, policy_words},
	[STAGE_COST] = {CHANGED_COSTS, cost_words},
	[STAGE_SENTINEL] = {CHANGED_POLICIES, policy_words},
};

static json_t *stage_row(
	const struct changes *changes, const struct run_change *change, enum stage stage, const char *word, bool over)
{
	return json_pack("{ss ss ss so sb so so}", "run_id", change->row->id.text, "stage", stages[stage].name,
		"status", word, "times", mark_time(changes, word), "over", over, "reason",
		json_string_or_null(change->reason), "actor",
		json_string_or_null(change->event == EV_OVERRIDDEN ? change->actor : NULL));
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
	add_to(changes, CHANGED_TASK_STAGES,
		stage_row(changes, change, STAGE_POST_PLAN, word,
			status >= OPERATION_FINISHED &&
				(stage == STAGE_POST_PLAN || run_ended(&change->verdict->run))));
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
	if (stage == STAGE_PLAN || stage == STAGE_APPLY) {
		add_operation(changes, change, stage, status);
		return;
	}
	if (stage == STAGE_OPA || stage == STAGE_POST_PLAN)
		add_post_plan(changes, change, stage, status);
	if (!homes[stage].words)
		return;
	add_to(changes, homes[stage].rows,
		stage_row(changes, change, stage, word_of(change, stage, status), status >= OPERATION_FINISHED));
}

static void add_marks(struct changes *changes, const struct run_change *change)
{
	for (size_t i = 0; i < change->verdict->mark_count; i++)
		add_mark(changes, change, change->verdict->marks[i].stage, change->verdict->marks[i].status);
}

static void add_workspace(struct changes *changes, const struct run_change *change)
{
	bool held = run_holds(&change->row->run), holds = run_holds(&change->verdict->run);

	if (run_is_hidden(&change->row->run))
		return;
	if (run_ended(&change->verdict->run) && !run_ended(&change->row->run)) {
		add_to(changes, CHANGED_ENDED_RUNS,
			json_pack("{ss ss sb}", "workspace", change->row->workspace.text, "run", change->row->id.text,
				"failed", change->verdict->run.status == RUN_ERRORED));
		return;
	}
	if (held == holds)
		return;
	add_to(changes, CHANGED_WORKSPACES,
		json_pack("{ss so}", "id", change->row->workspace.text, "current",
			json_string_or_null(holds ? change->row->id.text : NULL)));
}

/* The version whose tests have ended is published, or fails (runs/registry/version_tests.h). */
static void add_test(struct changes *changes, const struct run_change *change)
{
	if (change->row->run.test && run_ended(&change->verdict->run) && !run_ended(&change->row->run))
		add_to(changes, CHANGED_ENDED_TESTS, json_pack("{ss}", "run", change->row->id.text));
}

static const char *add_comment(struct changes *changes, const struct run_change *change, struct id *ret_id)
{
	if (!change->comment || !*change->comment)
		return NULL;
	*ret_id = id_new("wsc");
	add_to(changes, CHANGED_COMMENTS,
		json_pack("{ss ss ss so}", "id", ret_id->text, "run_id", change->row->id.text, "body", change->comment,
			"created_by", json_string_or_null(change->actor)));
	return ret_id->text;
}

/* The stages that changed, with the status of an operation. A new reference. */
static json_t *changed_stages(const struct verdict *verdict)
{
	json_t *changed = json_object();

	for (size_t i = 0; i < verdict->mark_count; i++)
		json_object_set_new(changed, stages[verdict->marks[i].stage].name,
			json_string(operation_status_name(verdict->marks[i].status)));
	return changed;
}

static void add_message(struct changes *changes, const struct run_change *change, const char *comment)
{
	json_auto_t *stages_changed = changed_stages(change->verdict);
	const struct run_changed changed = {.run = change->row->id,
		.workspace = change->row->workspace,
		.organization = change->row->organization,
		.status = run_statuses[change->verdict->run.status].name,
		.at = changes->now,
		.comment = comment,
		.stages = stages_changed};

	if (change->row->run.assessment || change->row->run.test)
		return;
	if (change->verdict->reached_count || comment || json_object_size(stages_changed))
		outbox_add(&changes->outbox, topics[TOPIC_EVENTS].name, changed.run.text, run_changed_encode(&changed));
}

static void add_events(struct changes *changes, const struct run_change *change)
{
	struct id id = {""};
	const char *comment = add_comment(changes, change, &id);
	json_t *event = event_new(change->row->id.text, run_event_name(change->event), change->actor);

	json_object_set_new(event, "description", json_string(text_or_empty(change->reason)));
	json_object_set_new(event, "comment_id", json_string_or_null(comment));
	add_to(changes, CHANGED_EVENTS, event);
	add_message(changes, change, comment);
}

/* The run as the API names it. */
static struct id audited_id(const struct run_row *row)
{
	return row->run.query   ? id_sibling(row->id.text, "query")
		: row->run.test ? id_sibling(row->id.text, "trun")
				: row->id;
}

/* Audits the end of a run without a user's request: the actor is the scheduler. No event names a test bed. */
static void add_audit(struct changes *changes, const struct run_change *change)
{
	const struct run_row *row = change->row;

	if (change->actor || change->row->run.assessment || !run_ended(&change->verdict->run) ||
		run_ended(&change->row->run))
		return;
	add_to(changes, CHANGED_AUDITS,
		json_pack("{ss ss so ss ss}", "type",
			row->run.query          ? "query"
				: row->run.test ? "test-run"
						: "run",
			"resource", audited_id(row).text, "workspace",
			json_string_or_null(row->run.test ? NULL : row->workspace.text), "organization",
			row->organization.text, "action", run_statuses[change->verdict->run.status].name));
}

static void add_notification(struct changes *changes, const struct run_change *change)
{
	enum trigger trigger = trigger_of(change->verdict);

	if (changes->watched && trigger != TRIGGER_COUNT)
		notification_event_add(changes->rows[CHANGED_NOTIFICATIONS],
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
	add_test(changes, change);
	add_events(changes, change);
	add_audit(changes, change);
	add_notification(changes, change);
}

/* ---- statements ---- */

static const struct db_statement *const statements[CHANGED_COUNT] = {
	[CHANGED_NEW_RUNS] = &changes_new_runs_statement,
	[CHANGED_NEW_OPERATIONS] = &changes_new_operations_statement,
	[CHANGED_ENDED_JOBS] = &changes_ended_jobs_statement,
	[CHANGED_RUNS] = &changes_runs_statement,
	[CHANGED_INPUTS] = &changes_inputs_statement,
	[CHANGED_NEW_JOBS] = &changes_new_jobs_statement,
	[CHANGED_RETRIED_JOBS] = &changes_retried_jobs_statement,
	[CHANGED_STOPPED_JOBS] = &changes_stopped_jobs_statement,
	[CHANGED_STATES] = &changes_states_statement,
	[CHANGED_OPERATIONS] = &changes_operations_statement,
	[CHANGED_TASK_STAGES] = &changes_task_stages_statement,
	[CHANGED_POLICIES] = &changes_policies_statement,
	[CHANGED_COSTS] = &changes_costs_statement,
	[CHANGED_WORKSPACES] = &changes_workspaces_statement,
	[CHANGED_ENDED_RUNS] = &changes_ended_runs_statement,
	[CHANGED_ENDED_TESTS] = &changes_ended_tests_statement,
	[CHANGED_COMMENTS] = &changes_comments_statement,
	[CHANGED_EVENTS] = &changes_events_statement,
	[CHANGED_AUDITS] = &changes_audits_statement,
};

static int rows_write(struct store *store, struct changes *changes, enum changed_rows rows, struct err *err)
{
	if (!statements[rows] || !json_array_size(changes->rows[rows]))
		return 0;
	_cleanup_(freep) char *text = json_text(changes->rows[rows]);
	return db_queue_one_of(store->db, err, statements[rows], changes_new_runs, .rows = text);
}

int changes_save_new(struct store *store, struct changes *changes, struct err *err)
{
	if (rows_write(store, changes, CHANGED_NEW_RUNS, err) < 0 ||
		rows_write(store, changes, CHANGED_NEW_OPERATIONS, err) < 0)
		return -1;
	json_array_clear(changes->rows[CHANGED_NEW_RUNS]);
	json_array_clear(changes->rows[CHANGED_NEW_OPERATIONS]);
	return 0;
}

/* Begins holds first: they read the job's row, which is deleted later. */
int changes_save(struct store *store, struct changes *changes, struct err *err)
{
	if (changes_save_new(store, changes, err) < 0 || holds_begin(store, changes->rows[CHANGED_HOLDS], err) < 0)
		return -1;
	for (size_t i = 0; i < CHANGED_COUNT; i++)
		if (rows_write(store, changes, i, err) < 0)
			return -1;
	if (task_results_follow(store, changes->rows[CHANGED_TASK_STAGES], &changes->outbox, err) < 0 ||
		notifications_put_up(store, changes->rows[CHANGED_NOTIFICATIONS], &changes->outbox, err) < 0)
		return -1;
	if (vcs_runs_note(store, changes->rows[CHANGED_RUNS], err) < 0)
		return -1;
	return outbox_insert(&changes->outbox, store->db, store->sink, err);
}
