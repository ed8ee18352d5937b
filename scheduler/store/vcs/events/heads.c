/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/heads.h"

#include "scheduler/store/vcs/events/heads.sql.h"

/* clang-format off */
/* Whether the connection of the repository $1 may be used: in all projects, or in this one. */
#define AVAILABLE(in_project) \
	"coalesce((select c.organization_scoped or " in_project " from vcs_repositories v join vcs_connections c " \
	"on c.id = v.connection_id where v.id = $1), true) as available "
/* Workspaces are found by workspace_repositories_repository, their heads by the key of vcs_heads, their runs by an index
 * that begins with the workspace. A single subject has a separate statement, because PostgreSQL would compare a parameter
 * that may be null with each workspace of the repository. */
#define SUBJECTS(of_workspace, of_policy_set) \
	"select w.id, false as policy_set, a.branch, a.tags_regex, a.ingress_submodules as submodules, w.settings, " \
	"w.working_directory as folder, null::jsonb as patterns, w.locked_by is not null as locked, " \
	"coalesce((select true from runs r where r.workspace_id = w.id limit 1), false) as had_run, " \
	"coalesce((o.settings ->> 'speculative-plan-management-enabled')::boolean, true) as cancels, " \
	"h.workspace_id is not null as has_head, " \
	"coalesce(h.created_at >= (select e.created_at from vcs_events e where e.id = $6), false) as head_newer, " \
	"coalesce(r.status = 'canceled', false) as head_canceled, coalesce(r.ended, false) as head_ended, " \
	"coalesce((select s.fork_pool_id from vcs_repository_pools s where s.repository_id = $1) <> " \
	"coalesce(w.pool_id, ''), false) as has_fork_pool, exists (select 1 from vcs_outcomes u where u.event_id = $6 " \
	"and u.subject_id = w.id and u.run_id is not null) as is_made, " \
	"exists (select 1 from vcs_pull_requests p where p.repository_id = $1 and p.number = $4 and p.approved_sha = $5 " \
	"and w.id = any(p.approved_workspaces)) as approved, " \
	AVAILABLE("exists (select 1 from vcs_connection_projects m where m.connection_id = c.id and " \
		"m.project_id = w.project_id)") \
	"from workspace_repositories a join workspaces w on w.id = a.workspace_id " \
	"join organizations o on o.id = w.organization_id " \
	"left join vcs_heads h on h.workspace_id = w.id and h.kind = $3 and h.pull_request = $4 and h.sha = $5 " \
	"left join runs r on r.id = h.run_id " \
	"where a.repository_id = $1 and " of_workspace " union all " \
	"select s.id, true, a.branch, '', a.ingress_submodules, s.settings, coalesce(s.policies_path, ''), " \
	"a.update_patterns, false, true, false, coalesce((select true from policy_set_version_commits k join " \
	"policy_set_versions v on v.id = k.policy_set_version_id where k.sha = $5 and v.id = s.newest_version_id), " \
	"false), false, false, false, false, exists (select 1 from policy_set_version_commits k where k.policy_set_version_id = " \
	"s.newest_version_id and k.sha = $5 and k.event_id = $6), false, " AVAILABLE("false") "from policy_set_repositories a join policy_sets s on s.id = a.policy_set_id " \
	"where a.repository_id = $1 and " of_policy_set " order by 1"
static const char subjects_sql[] = SUBJECTS("$2::text is null", "$2::text is null");
static const char subject_sql[] = SUBJECTS("a.workspace_id = $2", "a.policy_set_id = $2");
/* clang-format on */

int vcs_subjects_read(struct store *store, const char *repository_id, const char *subject_id,
	const struct vcs_head *head, struct rows *ret_rows, struct err *err)
{
	return db_query_sql(store->db, ret_rows, err, subject_id ? subject_sql : subjects_sql, P_TEXT(repository_id),
		P_TEXT(subject_id), P_TEXT(head->kind), P_INT(head->pull_request), P_TEXT(head->sha),
		P_TEXT(head->event_id));
}

int vcs_outcomes_write(struct store *store, const char *event_id, const json_t *outcomes, struct err *err)
{
	_cleanup_(freep) char *text = json_text(outcomes);

	return db_queue(store->db, err, vcs_outcomes_write, .event_id = event_id, .p2 = text);
}

int vcs_heads_write(struct store *store, const struct vcs_head *head, const json_t *outcomes, struct err *err)
{
	_cleanup_(freep) char *text = json_text(outcomes);

	return db_queue(store->db, err, vcs_heads_write, .event_id = head->event_id, .p2 = text, .kind = head->kind,
		.pull_request = head->pull_request, .sha = head->sha);
}

/* ---- earlier runs ---- */

/* Each reads $1 workspaces, $2 branch, $3 sha, $4 pull request. */
static const char *const earlier_sql[] = {
	[VCS_EARLIER_PENDING] =
		"select r.id from unnest($1::text[]) u(id) join runs r on r.workspace_id = u.id and r.queued and not "
		"r.plan_only and r.status = 'pending' join run_inputs i on i.run_id = r.id join configuration_commits "
		"k on k.configuration_version_id = i.configuration_version_id where k.branch = $2 and k.sha <> $3 and "
		"not k.is_pull_request and $4::bigint is not null order by r.id",
	[VCS_EARLIER_HEADS] =
		"select r.id from unnest($1::text[]) u(id) join vcs_heads h on h.workspace_id = u.id and h.kind = "
		"'pull_request' and h.pull_request = $4 join runs r on r.id = h.run_id where h.sha <> $3 and not "
		"r.ended and r.plan_only and $2::text is not null order by r.id",
	[VCS_EARLIER_ALL] =
		"select r.id from unnest($1::text[]) u(id) join vcs_heads h on h.workspace_id = u.id and h.kind = "
		"'pull_request' and h.pull_request = $4 join runs r on r.id = h.run_id where not r.ended and "
		"r.plan_only and $2::text is not null and $3::text is not null order by r.id",
};

int vcs_earlier_runs_read(
	struct store *store, const struct vcs_earlier_runs *runs, struct rows *ret_rows, struct err *err)
{
	return db_query_sql(store->db, ret_rows, err, earlier_sql[runs->which], P_ARRAY(runs->workspace_ids),
		P_TEXT(text_or_empty(runs->branch)), P_TEXT(text_or_empty(runs->sha)), P_INT(runs->pull_request));
}
