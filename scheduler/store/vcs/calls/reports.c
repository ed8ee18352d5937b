/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/reports.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/vcs/calls/comments.h"
#include "scheduler/store/vcs/calls/report_state.h"
#include "scheduler/store/vcs/calls/reports.sql.h"

enum { MAX_NOTES = 2000, MAX_ENQUEUED = 500, INTERVAL_S = 5, SHA_SIZE = 65 };

#define CONTEXT_PREFIX "Runyard/"
#define APPLY_STAGE    "apply"

/* ---- contexts ---- */

int vcs_event_note(struct store *store, const char *event_id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_event_note, .event_id = event_id);
}

static int contexts_renew(struct store *store, const char *event_id, struct err *err)
{
	return db_query(
		store->db, NULL, err, vcs_reports_renew, .event_id = event_id, .check_stages = REPORT_CHECK_STAGES);
}

/* ---- changes of runs ---- */

/* True if a status changes with the run: no status shows how far a plan is. */
static bool is_news(const char *status)
{
	static const int quiet[] = {RUN_PENDING, RUN_FETCHING, RUN_FETCHING_COMPLETED, RUN_PRE_PLAN_RUNNING,
		RUN_PRE_PLAN_COMPLETED, RUN_QUEUING, RUN_PLAN_QUEUED, RUN_PLANNING, RUN_PRE_APPLY_RUNNING,
		RUN_PRE_APPLY_COMPLETED, RUN_QUEUING_APPLY, RUN_APPLYING, RUN_POST_APPLY_RUNNING,
		RUN_POST_APPLY_COMPLETED};

	for (size_t i = 0; i < ARRAY_LEN(quiet); i++)
		if (text_equal(status, run_statuses[quiet[i]].name))
			return false;
	return true;
}

int vcs_runs_note(struct store *store, const json_t *rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array runs = DB_ARRAY_INIT;
	json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row)
	{
		if (is_news(json_string_at(row, "status")))
			db_array_add(&runs, json_string_at(row, "id"));
	}
	if (!runs.count)
		return 0;
	return db_queue(store->db, err, vcs_runs_note, .runs = &runs);
}

struct applying {
	struct store *store;
	int count;
};

static int notes_run(void *data, struct err *err)
{
	struct applying *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(a->store->db, &rows, err, vcs_notes_take, .max = MAX_NOTES) < 0)
		return -1;
	a->count = rows.count;
	for (int i = 0; i < rows.count; i++)
		if (contexts_renew(a->store, row_of(vcs_notes_take, &rows, i)->id, err) < 0)
			return -1;
	for (int i = 0; i < rows.count; i++)
		if (vcs_comment_renew(a->store, row_of(vcs_notes_take, &rows, i)->id, err) < 0)
			return -1;
	return 0;
}

int vcs_notes_apply(struct store *store, int *ret_count, struct err *err)
{
	struct applying a = {.store = store};

	if (db_transaction(store->db, notes_run, &a, err) < 0)
		return -1;
	*ret_count = a.count;
	return 0;
}

int vcs_reports_enqueue(struct store *store, struct err *err)
{
	return vcs_calls_enqueue(store, VCS_FOR_REPORT, &vcs_reports_enqueue_statement, MAX_ENQUEUED, err);
}

/* ---- one status ---- */

/* The subject's two parts. */
struct place {
	char sha[SHA_SIZE];
	const char *context; /* borrowed from the subject */
};

static struct place place_of_call(const struct vcs_claimed *call)
{
	struct place place = {.context = strchr(call->subject, ' ')};

	snprintf(place.sha, sizeof(place.sha), "%.*s", (int)strcspn(call->subject, " "), call->subject);
	place.context = place.context ? place.context + 1 : "";
	return place;
}

static void row_count(const struct vcs_report_runs_row *row, enum report_scope scope, struct report_counts *counts)
{
	const char *event = row->state;
	struct report_run run;
	enum report_state state;

	if (event) {
		counts->unapproved |= text_equal(event, "approval");
		counts->undecided |= !text_equal(event, "approval") && !text_equal(event, "done");
		counts->broken |= text_equal(row->level, "error");
		return;
	}
	run = (struct report_run){.status = run_status_parse(row->status),
		.stage = stage_parse(row->stage),
		.stages = (unsigned)row->stages,
		.lost = row->lost,
		.tests_failed = row->tests_failed};
	state = report_state_of(&run, scope);
	counts->count[state] += row->count;
	if (!counts->workspace[state])
		counts->workspace[state] = row->workspace;
}

static enum report_scope scope_of(const char *stage)
{
	if (text_equal(stage, "plan"))
		return REPORT_PLAN;
	if (text_equal(stage, APPLY_STAGE))
		return REPORT_APPLY;
	return *stage ? REPORT_CHECKS : REPORT_ALL;
}

/* The state and the description that the context should have now. */
static int wanted_compute(struct store *store, const struct vcs_report_lock_row *report, const struct vcs_claimed *call,
	enum report_state *ret_state, char ret_description[REPORT_DESCRIPTION_SIZE], struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct place place = place_of_call(call);
	const enum report_scope scope = scope_of(report->stage);
	struct report_counts counts = {.applies = scope == REPORT_APPLY};

	if (db_query(store->db, &rows, err, vcs_report_runs, .repository_id = call->repository_id, .sha = place.sha,
		    .workspace_id = report->workspace_id, .applies = counts.applies) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		row_count(row_of(vcs_report_runs, &rows, i), scope, &counts);
	*ret_state = report_sum(&counts, ret_description);
	return 0;
}

/* True if the provider has this status. GitLab refuses the state that a commit has already, whatever is said of it. */
static bool is_sent(
	const struct vcs_report_lock_row *report, enum vcs_dialect dialect, const char *state, const char *description)
{
	json_auto_t *sent = json_shown(report->sent);

	if (!text_equal(json_string_at(sent, "state"), state))
		return false;
	return dialect == VCS_GITLAB || text_equal(json_string_at(sent, "description"), description);
}

static json_t *arguments_make(struct store *store, const struct vcs_report_lock_row *report, const struct place *place,
	const char *state, const char *description)
{
	const char *event = report->event_id;
	_cleanup_(freep) char *url = event
		? mem_printf("%s/app/%s/vcs/events/%s", store->settings->public_url, report->organization, event)
		: mem_printf("%s/app/%s", store->settings->public_url, report->organization);

	return json_pack("{ss ss ss ss ss sI}", "sha", place->sha, "state", state, "context", place->context,
		"description", description, "url", url, "number", (json_int_t)report->pull_request);
}

static int skipped(struct store *store, const struct vcs_claimed *call, const struct place *place, long long version,
	struct err *err)
{
	return db_query(store->db, NULL, err, vcs_report_skipped, .repository_id = call->repository_id,
		.sha = place->sha, .context = place->context, .version = version);
}

int vcs_report_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_report_lock_row *report;
	const struct place place = place_of_call(call);
	char description[REPORT_DESCRIPTION_SIZE];
	enum report_state state;
	bool of_pull;

	ret_prepared->operation = VCS_OPERATIONS;
	if (db_query(store->db, &rows, err, vcs_report_lock, .repository_id = call->repository_id, .sha = place.sha,
		    .context = place.context) < 0)
		return -1;
	of_pull = json_bool_at(call->arguments, "of_pull", false);
	if (!rows.count)
		return 0;
	report = row_of(vcs_report_lock, &rows, 0);
	if (!of_pull && report->sent_version >= report->version)
		return 0;
	if (wanted_compute(store, report, call, &state, description, err) < 0)
		return -1;
	ret_prepared->version = report->version;
	if (!of_pull && is_sent(report, call->dialect, report_state_names[state], description))
		return skipped(store, call, &place, ret_prepared->version, err);
	ret_prepared->operation = of_pull ? VCS_OP_PULL_STATUS : report->app ? VCS_OP_CHECK_RUN : VCS_OP_STATUS;
	ret_prepared->arguments = arguments_make(store, report, &place, report_state_names[state], description);
	return 0;
}

int vcs_report_sent(struct store *store, const struct vcs_claimed *call, struct err *err)
{
	const struct place place = place_of_call(call);
	json_auto_t *sent = json_pack("{ss ss}", "state", json_string_at(call->arguments, "state"), "description",
		json_string_at(call->arguments, "description"));
	_cleanup_(freep) char *text = json_text(sent);

	return db_query(store->db, NULL, err, vcs_report_sent, .repository_id = call->repository_id, .sha = place.sha,
		.context = place.context, .version = call->version, .sent = text, .interval_s = INTERVAL_S);
}

int vcs_report_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	const struct place place = place_of_call(call);

	(void)ret_goes_on;
	return db_query(store->db, NULL, err, vcs_report_refused, .repository_id = call->repository_id,
		.sha = place.sha, .context = place.context, .version = call->version, .why = verdict->why);
}
