/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/team_access.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/access/team_access.sql.h"

/* The statements for each kind of place. */
static const struct statements {
	const char *prefix, *constraint;
	const struct db_statement *list, *read, *create, *update, *delete;
} statements[] = {
	[IN_WORKSPACE] = {"tws", "team_workspaces_team", &workspace_access_list_statement,
		&workspace_access_read_statement, &workspace_access_create_statement,
		&workspace_access_update_statement, &workspace_access_delete_statement},
	[IN_PROJECT] = {"tprj", "team_projects_team", &project_access_list_statement, &project_access_read_statement,
		&project_access_create_statement, &project_access_update_statement, &project_access_delete_statement},
};

int team_accesses_list(struct store *store, const struct access_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query_one_of(store->db, ret_rows, err, statements[list->place].list, workspace_access_list,
		.place_id = list->place_id, .team_id = list->team_id, .limit = list->limit, .offset = list->offset,
		.user = response_scope_user(store->scope));
}

int team_access_read(
	struct store *store, enum access_place place, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query_one_of(store->db, ret_rows, err, statements[place].read, workspace_access_read, .id = id,
		    .user = response_scope_user(store->scope)) < 0)
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

	if (db_query_one_of(store->db, &rows, err, statements[place].create, workspace_access_create, .id = id.text,
		    .team_id = access->team_id, .place_id = access->place_id, .access = access->access,
		    .rights = (long long)access->rights, .detail = detail, .workspace_detail = within,
		    .user = response_scope_user(store->scope)) < 0)
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

	return db_query_one_of(store->db, NULL, err, statements[place].update, workspace_access_update, .id = id,
		.access = access->access, .rights = (long long)access->rights, .detail = detail,
		.workspace_detail = within);
}

int team_access_delete(struct store *store, enum access_place place, const char *id, struct err *err)
{
	return db_query_one_of(store->db, NULL, err, statements[place].delete, workspace_access_delete, .id = id);
}
