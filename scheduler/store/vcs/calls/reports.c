/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/reports.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/vcs/calls/comments.h"
#include "scheduler/store/vcs/calls/report_state.h"

enum { MAX_NOTES = 2000, MAX_ENQUEUED = 500, INTERVAL_S = 5, SHA_SIZE = 65 };

#define CONTEXT_PREFIX "Runyard/"
#define APPLY_STAGE    "apply"

/* A new version is due when the last one is old enough: providers limit the statuses of a context to a thousand, so
 * the interval grows with their number. */
#define NEXT_DUE "greatest(now(), coalesce(r.sent_at + make_interval(secs => 5 + r.sent_count), now()))"

/* ---- contexts ---- */

/*
 * $1: the event. $2: the bits of the stages that are checks. Inserts a row per context, or makes a new version of it. A
 * context links to the pull request's event if there is one. Applies have a context if the organization's setting is on
 * and the event made a run that may apply.
 */
/* clang-format off */
static const char begin_sql[] =
	"with e as (select e.id, e.repository_id, e.sha, coalesce(e.pull_request, 0) as pull_request, "
	"'" CONTEXT_PREFIX "' || o.name as context, coalesce((o.settings ->> 'aggregated-commit-status-enabled')::boolean, "
	"true) as aggregated, coalesce((o.settings ->> 'send-passing-statuses-for-untriggered-speculative-plans')::boolean, "
	"false) as untouched, coalesce((o.settings ->> 'vcs-apply-status-enabled')::boolean, false) as applies "
	"from vcs_events e join organizations o on o.id = e.organization_id "
	"join vcs_repositories v on v.id = e.repository_id left join vcs_connections c on c.id = v.connection_id "
	"where e.id = $1 and e.sha <> '' and e.kind in ('push', 'tag', 'pr_open', 'pr_update') "
	"and c.provider is distinct from 'git'), "
	"made as (select e.repository_id, e.sha, e.context, null as workspace_id, '' as stage, e.pull_request, e.id "
	"from e where e.aggregated union all "
	"select e.repository_id, e.sha, e.context || '/" APPLY_STAGE "', null, '" APPLY_STAGE "', 0, e.id from e where "
	"e.aggregated and e.applies and exists (select 1 from vcs_outcomes u join runs n on n.id = u.run_id "
	"where u.event_id = e.id and not n.plan_only) union all "
	"select e.repository_id, e.sha, e.context || '/' || w.name || '/' || s.stage, w.id, s.stage, e.pull_request, e.id "
	"from e join vcs_outcomes u on u.event_id = e.id join workspaces w on w.id = u.subject_id "
	"left join runs n on n.id = u.run_id cross join (values ('plan'), ('checks'), ('" APPLY_STAGE "')) as s(stage) "
	"where not e.aggregated and (n.id is not null or e.untouched and e.pull_request > 0) "
	"and case s.stage when 'plan' then true when 'checks' then (n.stages & $2) <> 0 else e.applies and not n.plan_only "
	"end) "
	"insert into vcs_reports as r (repository_id, sha, context, workspace_id, stage, pull_request, event_id) "
	"select * from made order by context on conflict (repository_id, sha, context) do update "
	"set version = r.version + 1, error = null, due_at = " NEXT_DUE ", "
	"pull_request = greatest(r.pull_request, excluded.pull_request), event_id = case when excluded.pull_request > 0 "
	"or r.pull_request = 0 then excluded.event_id else r.event_id end";
/* clang-format on */

int vcs_event_note(struct store *store, const char *event_id, struct err *err)
{
	return db_query(store->db, NULL, err, "insert into vcs_notes (event_id) values ($1)", P_TEXT(event_id));
}

static int contexts_renew(struct store *store, const char *event_id, struct err *err)
{
	return db_query(store->db, NULL, err, begin_sql, P_TEXT(event_id), P_INT(REPORT_CHECK_STAGES));
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
	return db_queue(store->db, err,
		"insert into vcs_notes (event_id) select distinct event_id from vcs_outcomes "
		"where run_id = any($1::text[])",
		P_ARRAY(&runs));
}

struct applying {
	struct store *store;
	int count;
};

/* In one order, so that two schedulers do not wait for each other in a circle. */
static int notes_run(void *data, struct err *err)
{
	struct applying *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(a->store->db, &rows, err,
		    "with gone as (delete from vcs_notes where sequence = any(array(select sequence from vcs_notes "
		    "order by sequence limit $1 for update skip locked)) returning event_id) "
		    "select distinct e.id, e.repository_id, e.sha from gone g join vcs_events e on e.id = g.event_id "
		    "order by e.repository_id, e.sha, e.id",
		    P_INT(MAX_NOTES)) < 0)
		return -1;
	a->count = rows.count;
	for (int i = 0; i < rows.count; i++)
		if (contexts_renew(a->store, row_text(&rows, i, "id"), err) < 0)
			return -1;
	for (int i = 0; i < rows.count; i++)
		if (vcs_comment_renew(a->store, row_text(&rows, i, "id"), err) < 0)
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
	return db_query(store->db, NULL, err,
		CALLS_INSERT("organization_id, connection_id, installation_id, repository_id, subject, due_at",
			"v.organization_id, v.connection_id, v.installation_id, v.id, r.sha || ' ' || r.context, "
			"greatest(now(), coalesce(l.blocked_until, now())) "
			"from (select * from vcs_reports where sent_version < version and due_at <= now() "
			"order by due_at limit $4) r join vcs_repositories v on v.id = r.repository_id "
			"left join vcs_limits l on l.owner_id = coalesce(v.connection_id, v.installation_id)"),
		CALL_TRAITS(VCS_FOR_REPORT), P_INT(MAX_ENQUEUED));
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

/*
 * Counts the newest run of each workspace for the commit, by the columns that determine the status. Counts the commit's
 * events by state and level. With $4, only runs that may apply count, and no events of pull requests. `lost`: the run's
 * error is the scheduler's sentence about a lost worker (background/reaper.c).
 */
/* clang-format off */
static const char runs_sql[] =
	"with events as (select id, state, level from vcs_events where repository_id = $1 and sha = $2 "
	"and (not $4 or pull_request is null)), "
	"newest as (select distinct on (n.workspace_id) n.id, n.workspace_id, n.status, n.stage, n.stages from events e "
	"join vcs_outcomes u on u.event_id = e.id join runs n on n.id = u.run_id "
	"where ($3::text is null or n.workspace_id = $3) and not ($4 and n.plan_only) order by n.workspace_id, n.position desc) "
	"select n.status, n.stage, n.stages, coalesce(i.error like 'Contact with worker %' "
	"or i.error like 'The work of the stage %', false) as lost, count(*) as count, min(w.name) as workspace, "
	"null as state, null as level from newest n join workspaces w on w.id = n.workspace_id "
	"join run_inputs i on i.run_id = n.id group by 1, 2, 3, 4 "
	"union all select null, null, null, false, count(*), null, state, level from events group by state, level";
/* clang-format on */

static void row_count(const struct rows *rows, int row, enum report_scope scope, struct report_counts *counts)
{
	const char *event = row_text(rows, row, "state");
	struct report_run run;
	enum report_state state;

	if (event) {
		counts->unapproved |= text_equal(event, "approval");
		counts->undecided |= !text_equal(event, "approval") && !text_equal(event, "done");
		counts->broken |= text_equal(row_text(rows, row, "level"), "error");
		return;
	}
	run = (struct report_run){.status = run_status_parse(row_text(rows, row, "status")),
		.stage = stage_parse(row_text(rows, row, "stage")),
		.stages = (unsigned)row_int(rows, row, "stages"),
		.lost = row_bool(rows, row, "lost")};
	state = report_state_of(&run, scope);
	counts->count[state] += row_int(rows, row, "count");
	if (!counts->workspace[state])
		counts->workspace[state] = row_text(rows, row, "workspace");
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
static int wanted_compute(struct store *store, const struct rows *report, const struct vcs_claimed *call,
	enum report_state *ret_state, char ret_description[REPORT_DESCRIPTION_SIZE], struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct place place = place_of_call(call);
	const enum report_scope scope = scope_of(row_text(report, 0, "stage"));
	struct report_counts counts = {.applies = scope == REPORT_APPLY};

	if (db_query(store->db, &rows, err, runs_sql, P_TEXT(call->repository_id), P_TEXT(place.sha),
		    P_TEXT(row_text(report, 0, "workspace_id")), P_BOOL(counts.applies)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		row_count(&rows, i, scope, &counts);
	*ret_state = report_sum(&counts, ret_description);
	return 0;
}

/* True if the provider has this status. GitLab refuses the state that a commit has already, whatever is said of it. */
static bool is_sent(const struct rows *report, enum vcs_dialect dialect, const char *state, const char *description)
{
	json_auto_t *sent = row_json(report, 0, "sent");

	if (!text_equal(json_string_at(sent, "state"), state))
		return false;
	return dialect == VCS_GITLAB || text_equal(json_string_at(sent, "description"), description);
}

static json_t *arguments_make(struct store *store, const struct rows *report, const struct place *place,
	const char *state, const char *description)
{
	const char *event = row_text(report, 0, "event_id");
	_cleanup_(freep) char *url = event
		? mem_printf("%s/app/%s/vcs/events/%s", store->settings->public_url,
			  row_text(report, 0, "organization"), event)
		: mem_printf("%s/app/%s", store->settings->public_url, row_text(report, 0, "organization"));

	return json_pack("{ss ss ss ss ss sI}", "sha", place->sha, "state", state, "context", place->context,
		"description", description, "url", url, "number", (json_int_t)row_int(report, 0, "pull_request"));
}

static int skipped(struct store *store, const struct vcs_claimed *call, const struct place *place, long long version,
	struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_reports set sent_version = greatest(sent_version, $4) where repository_id = $1 and sha = "
		"$2 and context = $3",
		P_TEXT(call->repository_id), P_TEXT(place->sha), P_TEXT(place->context), P_INT(version));
}

int vcs_report_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows report = ROWS_INIT;
	const struct place place = place_of_call(call);
	char description[REPORT_DESCRIPTION_SIZE];
	enum report_state state;
	bool of_pull;

	ret_prepared->operation = VCS_OPERATIONS;
	if (db_query(store->db, &report, err,
		    "select r.version, r.sent_version, r.sent, r.workspace_id, r.stage, r.pull_request, r.event_id, "
		    "v.installation_id is not null as app, o.name as organization from vcs_reports r join "
		    "vcs_repositories v on v.id = r.repository_id "
		    "join organizations o on o.id = v.organization_id "
		    "where r.repository_id = $1 and r.sha = $2 and r.context = $3 for no key update of r",
		    P_TEXT(call->repository_id), P_TEXT(place.sha), P_TEXT(place.context)) < 0)
		return -1;
	of_pull = json_bool_at(call->arguments, "of_pull", false);
	if (!report.count || (!of_pull && row_int(&report, 0, "sent_version") >= row_int(&report, 0, "version")))
		return 0;
	if (wanted_compute(store, &report, call, &state, description, err) < 0)
		return -1;
	ret_prepared->version = row_int(&report, 0, "version");
	if (!of_pull && is_sent(&report, call->dialect, report_state_names[state], description))
		return skipped(store, call, &place, ret_prepared->version, err);
	ret_prepared->operation = of_pull     ? VCS_OP_PULL_STATUS
		: row_bool(&report, 0, "app") ? VCS_OP_CHECK_RUN
					      : VCS_OP_STATUS;
	ret_prepared->arguments = arguments_make(store, &report, &place, report_state_names[state], description);
	return 0;
}

int vcs_report_sent(struct store *store, const struct vcs_claimed *call, struct err *err)
{
	const struct place place = place_of_call(call);
	json_auto_t *sent = json_pack("{ss ss}", "state", json_string_at(call->arguments, "state"), "description",
		json_string_at(call->arguments, "description"));
	_cleanup_(freep) char *text = json_text(sent);

	return db_query(store->db, NULL, err,
		"update vcs_reports r set sent_version = greatest(sent_version, $4), sent = $5::jsonb, sent_at = "
		"now(), sent_count = sent_count + 1, error = null, due_at = case when version > $4 then now() + "
		"make_interval(secs => $6 + r.sent_count) else due_at end "
		"where repository_id = $1 and sha = $2 and context = $3",
		P_TEXT(call->repository_id), P_TEXT(place.sha), P_TEXT(place.context), P_INT(call->version),
		P_TEXT(text), P_INT(INTERVAL_S));
}

int vcs_report_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	const struct place place = place_of_call(call);

	(void)ret_goes_on;
	return db_query(store->db, NULL, err,
		"update vcs_reports set sent_version = greatest(sent_version, $4), error = left($5, 500) "
		"where repository_id = $1 and sha = $2 and context = $3",
		P_TEXT(call->repository_id), P_TEXT(place.sha), P_TEXT(place.context), P_INT(call->version),
		P_TEXT(verdict->why));
}
