/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/team_access.h"

#include "scheduler/store/access/response_scope.h"

/* The two tables with the same column names. */
#define OF_WORKSPACES                                                                                                  \
	"(select id, team_id, workspace_id as place_id, access, detail, null::jsonb as workspace_detail, created_at "  \
	"from team_workspaces) a "
#define OF_PROJECTS                                                                                                    \
	"(select id, team_id, project_id as place_id, access, project_detail as detail, workspace_detail, created_at " \
	"from team_projects) a "

#define SEEN_TEAMS(user) "join teams t on t.id = a.team_id and " TEAM_IN_SCOPE(SECRET_TEAMS_IN_SCOPE(user), user)

#define LIST(table)                                                                                                    \
	"with found as (select a.*, t.organization_id from " table SEEN_TEAMS(                                         \
		"$4") "where a.place_id = $1) "                                                                        \
		      "select c.total, f.* from (select count(*) as total from found) c left join "                    \
		      "(select * from found order by created_at, id limit $2 offset $3) f on true order by "           \
		      "f.created_at, f.id"

#define READ(table) "select a.*, t.organization_id from " table SEEN_TEAMS("$2") "where a.id = $1"

/* The team and the place must be in the same organization. The owners team has all permissions already. */
#define CREATE(table, place_column, places, details, values)                                                           \
	"insert into " table " (id, team_id, " place_column ", access, rights, " details ") "                          \
	"select $1, t.id, p.id, $4, $5, " values " from teams t join " places " p on p.organization_id = "             \
	"t.organization_id where t.id = $2 and t.kind = 'team' and p.id = $3 and " TEAM_IN_SCOPE(                      \
		SECRET_TEAMS_IN_SCOPE("$8"), "$8") "and ($7::jsonb is null or true)"

/* The statements for each kind of place. */
static const struct statements {
	const char *prefix, *constraint, *list, *read, *create, *update, *delete;
} statements[] = {
	[IN_WORKSPACE] = {"tws", "team_workspaces_team", LIST(OF_WORKSPACES), READ(OF_WORKSPACES),
		CREATE("team_workspaces", "workspace_id", "workspaces", "detail", "$6::jsonb"),
		"update team_workspaces set access = $2, rights = $3, detail = $4::jsonb "
		"where id = $1 and ($5::jsonb is null or true)",
		"delete from team_workspaces where id = $1"},
	[IN_PROJECT] = {"tprj", "team_projects_team", LIST(OF_PROJECTS), READ(OF_PROJECTS),
		CREATE("team_projects", "project_id", "projects", "project_detail, workspace_detail",
			"$6::jsonb, $7::jsonb"),
		"update team_projects set access = $2, rights = $3, project_detail = $4::jsonb, "
		"workspace_detail = $5::jsonb where id = $1",
		"delete from team_projects where id = $1"},
};

int team_accesses_list(struct store *store, const struct access_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query_sql(store->db, ret_rows, err, statements[list->place].list, P_TEXT(list->place_id),
		P_INT(list->limit), P_INT(list->offset), P_TEXT(response_scope_user(store->scope)));
}

int team_access_read(
	struct store *store, enum access_place place, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query_sql(store->db, ret_rows, err, statements[place].read, P_TEXT(id),
		    P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "team access not found");
}

static int team_taken(struct store *store, enum access_place place, struct err *err)
{
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), statements[place].constraint))
		return err_at(err, "/data/relationships/team", "Team has already been added");
	return -1;
}

int team_access_create(struct store *store, enum access_place place, const struct team_access *access,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *detail = json_text(access->detail);
	_cleanup_(freep) char *within = access->workspace_detail ? json_text(access->workspace_detail) : NULL;
	struct id id = id_new(statements[place].prefix);

	if (db_query_sql(store->db, &rows, err, statements[place].create, P_TEXT(id.text), P_TEXT(access->team_id),
		    P_TEXT(access->place_id), P_TEXT(access->access), P_INT((long long)access->rights), P_TEXT(detail),
		    P_TEXT(within), P_TEXT(response_scope_user(store->scope))) < 0)
		return team_taken(store, place, err);
	if (!db_affected(&rows))
		return err_at(
			err, "/data/relationships/team", "Team must be a team of the organization, and not its owners");
	*ret_id = id;
	return 0;
}

int team_access_update(
	struct store *store, enum access_place place, const char *id, const struct team_access *access, struct err *err)
{
	_cleanup_(freep) char *detail = json_text(access->detail);
	_cleanup_(freep) char *within = access->workspace_detail ? json_text(access->workspace_detail) : NULL;

	return db_query_sql(store->db, NULL, err, statements[place].update, P_TEXT(id), P_TEXT(access->access),
		P_INT((long long)access->rights), P_TEXT(detail), P_TEXT(within));
}

int team_access_delete(struct store *store, enum access_place place, const char *id, struct err *err)
{
	return db_query_sql(store->db, NULL, err, statements[place].delete, P_TEXT(id));
}
