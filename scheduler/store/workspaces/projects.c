/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/projects.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/workspaces/projects.sql.h"

int projects_list(struct store *store, const struct project_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, projects_list, .organization_id = list->organization_id,
		.search = list->search, .names = list->names, .sort = list->sort, .limit = list->limit,
		.offset = list->offset, .tag_keys = db_array_or_null(list->tag_keys),
		.tag_values = db_array_or_null(list->tag_values),
		.everywhere = response_scope_all(store->scope, list->organization_id, CAN_READ_PROJECT),
		.user = response_scope_user(store->scope));
}

int project_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, project_read, .id = id, .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "project not found");
}

int projects_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(
		store->db, ret_rows, err, projects_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int project_belongs(
	struct store *store, const char *id, const char *organization_id, bool *ret_belongs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, project_belongs, .id = id, .organization_id = organization_id) < 0)
		return -1;
	*ret_belongs = rows.count > 0;
	return 0;
}

int project_default(struct store *store, const char *organization_id, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, project_default, .organization_id = organization_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "organization not found");
	text_copy(ret_id->text, sizeof(ret_id->text), row_of(project_default, &rows, 0)->id);
	return 0;
}

int project_inherited_mode(
	struct store *store, const char *organization_id, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, project_inherited_mode, .organization_id = organization_id, .id = id);
}

int project_create(struct store *store, const char *organization_id, const struct project *project, struct id *ret_id,
	struct err *err)
{
	_cleanup_(freep) char *settings = json_text(project->settings);
	struct id id = id_new("prj");

	if (db_query(store->db, NULL, err, project_create, .id = id.text, .organization_id = organization_id,
		    .name = project->name, .description = project->description, .settings = settings,
		    .pool_id = project->pool_id) < 0)
		return name_taken(store, "projects_name", err);
	*ret_id = id;
	return 0;
}

int project_update(struct store *store, const char *id, const struct project *project, struct err *err)
{
	_cleanup_(freep) char *settings = json_text(project->settings);

	if (db_query(store->db, NULL, err, project_update, .id = id, .name = project->name,
		    .description = project->description, .settings = settings, .pool_id = project->pool_id) < 0)
		return name_taken(store, "projects_name", err);
	return 0;
}

int project_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, project_delete, .id = id) < 0)
		return -1;
	if (db_affected(&rows))
		return 0;
	return err_set(err, ERR_CONFLICT, "a project that has workspaces, and the default one, can't be deleted");
}
