/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/event_list.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/vcs/connections.h"

#define COLUMNS                                                                                                        \
	"e.id, e.sequence, e.organization_id, e.connection_id, e.repository_id, e.found_by, e.kind, e.ref, "           \
	"e.before_sha, e.sha, e.pull_request, e.detail, e.state, e.files, e.files_note, e.level, e.message, "          \
	"e.created_at, e.done_at, o.name as organization_name, r.identifier, r.web_url, " VCS_DIALECT_COLUMNS          \
	", c.http_url, t.id as token_id "
#define TABLES                                                                                                         \
	"from vcs_events e join organizations o on o.id = e.organization_id "                                          \
	"left join vcs_repositories r on r.id = e.repository_id left join vcs_connections c on c.id = "                \
	"e.connection_id left join vcs_tokens t on t.connection_id = c.id "

/* By the index of the organization's events. The count reads all of them that are kept. */
#define FOUND                                                                                                          \
	"from vcs_events e where e.organization_id = $1 "                                                              \
	"and ($2::timestamptz is null or e.created_at >= $2) and ($3::timestamptz is null or e.created_at <= $3) "     \
	"and ($4::text is null or e.level = any(string_to_array($4, ','))) "                                           \
	"and ($5::text is null or e.connection_id = any(string_to_array($5, ','))) "                                   \
	"and ($6::text is null or exists (select 1 from vcs_outcomes u join workspaces w on w.id = u.subject_id "      \
	"where u.event_id = e.id and w.organization_id = $1 and lower(w.name) = lower($6))) "

int vcs_events_list(struct store *store, const struct vcs_event_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with n as (select count(*) as total " FOUND "), p as (select e.id " FOUND
		"order by e.sequence desc limit $7 offset $8) "
		"select n.total, s.* from n left join (select " COLUMNS TABLES "where e.id in (select id from p)) s "
		"on true order by s.sequence desc",
		P_TEXT(list->organization_id), P_TEXT(list->from), P_TEXT(list->to), P_TEXT(list->levels),
		P_TEXT(list->connection_ids), P_TEXT(list->workspace), P_INT(list->limit), P_INT(list->offset));
}

int vcs_event_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where e.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "VCS event not found");
}

int vcs_outcomes_read(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select u.subject_id, w.name, u.reason, u.run_id, u.configuration_version_id from vcs_outcomes u "
		"join workspaces w on w.id = u.subject_id where u.event_id = $1 and (" RIGHTS_IN_WORKSPACE("$2",
			"w.organization_id",
			"w.id") ") & 1 <> 0 union all "
				"select u.subject_id, s.name, u.reason, u.run_id, u.configuration_version_id from "
				"vcs_outcomes u "
				"join policy_sets s on s.id = u.subject_id where u.event_id = $1 order by name",
		P_TEXT(event_id), P_TEXT(response_scope_user(store->scope)));
}
