/* SPDX-License-Identifier: MPL-2.0 */
#include "common/log.h"
#include "common/metrics.h"
#include "proto/messages.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/assessments/assessments.h"
#include "scheduler/runs/assessments/findings.h"
#include "scheduler/runs/assessments/settle.sql.h"
#include "scheduler/runs/plans/plan_changes_make.h"
#include "scheduler/store/content/contents.h"
#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/runs/plans/plan_changes.sql.h"

enum { AGAIN_SECONDS = 60 };

/* A result before it is stored. */
struct result {
	struct id id;
	const char *workspace, *run; /* borrowed; run NULL: it could not begin */
	const char *error;           /* NULL: it succeeded */
	const char *user, *created_at;
	struct findings findings;
};

static int result_insert(struct store *store, const struct result *result, long long resources, struct err *err)
{
	const struct findings *f = &result->findings;
	long long undrifted = resources > f->drifted ? resources - f->drifted : 0;

	return db_query(store->db, NULL, err, assessment_result_insert, .id = result->id.text,
		.workspace = result->workspace, .run = result->run, .succeeded = !result->error, .error = result->error,
		.drifted = f->drifted > 0, .resources_drifted = f->drifted,
		.resources_undrifted = result->error ? 0 : undrifted, .checks_passed = f->checks_passed,
		.checks_failed = f->checks_failed, .checks_errored = f->checks_errored,
		.checks_unknown = f->checks_unknown, .drift_digest = f->drift_digest, .checks_digest = f->checks_digest,
		.user = result->user, .created_at = result->created_at, .hours = store->settings->assessment_hours);
}

/* ---- evaluation ---- */

/* Reads what the plan found. An error of the plan's data is one of the assessment. */
static int findings_read(struct store *store, const char *run, struct findings *ret_findings, struct err *err)
{
	const struct id plan = id_sibling(run, stages[STAGE_PLAN].name);
	_cleanup_(plan_changes_draft_release) struct plan_changes_draft draft = PLAN_CHANGES_DRAFT_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct plan_changes_lookup_row *row;
	json_auto_t *summary = NULL;

	if (plan_changes_lookup(store, plan.text, &rows, err) < 0)
		return -1;
	row = row_of(plan_changes_lookup, &rows, 0);
	if (!row->json_blob)
		return err_set(err, ERR_INVALID, "the worker sent no plan");
	if (plan_changes_make(store, plan.text, row, &draft, err) < 0 ||
		json_parse(buf_str(&draft.summary), draft.summary.len, &summary, err) < 0)
		return -1;
	*ret_findings = findings_of(summary);
	return 0;
}

/* The database's errors are the caller's, all others are the result's. */
static int result_evaluate(struct store *store, struct result *result, struct err *why, struct err *err)
{
	if (findings_read(store, result->run, &result->findings, why) == 0)
		return 0;
	if (why->kind != ERR_INVALID && why->kind != ERR_TOO_LARGE && why->kind != ERR_MALFORMED) {
		*err = *why;
		return -1;
	}
	result->error = why->message;
	return 0;
}

/* ---- the result ---- */

/* Creates a notification for each change since the last result. */
static int changes_notify(
	struct store *store, const struct assessment_before_row *before, const struct result *result, struct err *err)
{
	const struct findings *f = &result->findings;
	const struct {
		enum trigger trigger;
		bool is_new;
	} news[] = {
		{TRIGGER_ASSESSMENT_FAILED, result->error && !before->failed_before},
		{TRIGGER_DRIFTED, f->drifted && !text_equal(f->drift_digest, before->drift_digest)},
		{TRIGGER_CHECK_FAILED, f->checks_digest[0] && !text_equal(f->checks_digest, before->checks_digest)},
	};

	for (size_t i = 0; i < ARRAY_LEN(news); i++)
		if (news[i].is_new &&
			notification_of_workspace_put_up(store,
				&(struct workspace_notification){.workspace_id = result->workspace,
					.trigger = news[i].trigger,
					.assessment_id = result->id.text},
				err) < 0)
			return -1;
	return 0;
}

/* Event streams show the result. */
static int result_announce(
	struct store *store, const struct assessment_before_row *before, const struct result *result, struct err *err)
{
	const struct run_part_changed changed = {.run = result->run,
		.workspace = result->workspace,
		.organization = before->organization,
		.part = "assessment",
		.id = result->id.text};
	struct outbox outbox;
	int announced;

	if (!result->run)
		return 0;
	outbox_init(&outbox);
	outbox_add(&outbox, topics[TOPIC_EVENTS].name, result->run, run_part_changed_encode(&changed));
	announced = outbox_insert(&outbox, store->db, store->sink, err);
	outbox_release(&outbox);
	return announced;
}

/* Stores no result, and sets *ret_outdated, if the workspace's state has changed since the assessment began. */
static int result_store(struct store *store, const struct result *result, bool *ret_outdated, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct assessment_before_row *before;

	if (db_query(store->db, &rows, err, assessment_before, .workspace = result->workspace,
		    .created_at = result->created_at) < 0)
		return -1;
	if (!rows.count)
		return 0;
	before = row_of(assessment_before, &rows, 0);
	*ret_outdated = before->outdated;
	if (before->outdated)
		return 0;
	metric_addf(M_ASSESSMENTS, 1, "outcome=\"%s\"",
		result->error                      ? "errored"
			: result->findings.drifted ? "drifted"
						   : "undrifted");
	log_info("assessment ended", "workspace", result->workspace, "run", result->run, "error", result->error, NULL);
	if (result_insert(store, result, before->resources, err) < 0 || changes_notify(store, before, result, err) < 0)
		return -1;
	return result_announce(store, before, result, err);
}

int assessment_fail(struct store *store, const char *workspace_id, const char *why, struct err *err)
{
	const struct result result = {.id = id_new("asmtres"), .workspace = workspace_id, .error = why};
	bool outdated = false;

	return result_store(store, &result, &outdated, err);
}

/* ---- an assessment that has ended ---- */

struct settling {
	struct store *store;
	const char *run;
	struct err lost; /* of an object store that lost the plan */
};

static int run_settle(
	const struct settling *s, const struct assessment_take_row *row, bool *ret_outdated, struct err *err)
{
	struct result result = {.id = id_sibling(s->run, "asmtres"),
		.workspace = row->workspace,
		.run = s->run,
		.user = row->user,
		.created_at = row->created_at};
	struct err why = ERR_INIT;

	if (!text_equal(row->status, run_statuses[RUN_PLANNED_AND_FINISHED].name))
		result.error = row->error ? row->error : "the plan failed: its log says why";
	else if (s->lost.kind != ERR_NONE)
		result.error = s->lost.message;
	else if (result_evaluate(s->store, &result, &why, err) < 0)
		return -1;
	return result_store(s->store, &result, ret_outdated, err);
}

static int canceled_settle(struct store *store, const char *workspace, struct err *err)
{
	metric_add(M_ASSESSMENTS, "outcome=\"canceled\"", 1);
	return db_query(store->db, NULL, err, assessment_retry, .workspace = workspace, .seconds = AGAIN_SECONDS);
}

static int settle_run(void *data, struct err *err)
{
	const struct settling *s = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct assessment_take_row *row;
	bool canceled; /* or of a state that is no longer the current one */

	if (db_query(s->store->db, &rows, err, assessment_take, .run = s->run) < 0)
		return -1;
	if (!rows.count)
		return 0;
	row = row_of(assessment_take, &rows, 0);
	canceled = text_equal(row->status, run_statuses[RUN_CANCELED].name) ||
		text_equal(row->status, run_statuses[RUN_FORCE_CANCELED].name);
	if ((!canceled && run_settle(s, row, &canceled, err) < 0) ||
		(canceled && canceled_settle(s->store, row->workspace, err) < 0))
		return -1;
	return db_query(s->store->db, NULL, err, assessment_results_prune, .workspace = row->workspace,
		.kept = ASSESSMENTS_KEPT, .canceled = canceled ? s->run : NULL);
}

static int settle_try(struct store *reading, void *data, struct err *err)
{
	struct settling *s = data;

	s->store = reading;
	return db_transaction(reading->db, settle_run, s, err);
}

/* If the object store has lost the plan, the assessment fails: no later try would find it. */
int assessment_settle(struct store *store, struct objects *objects, const char *run_id, struct err *err)
{
	struct settling s = {.run = run_id, .lost = ERR_INIT};
	bool lost;
	int result = contents_read(store, objects, settle_try, &s, &lost, err);

	if (!lost)
		return result;
	s.lost = *err;
	*err = (struct err)ERR_INIT;
	return settle_try(store, &s, err);
}
