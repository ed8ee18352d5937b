/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/projects.h"

#define COLUMNS                                                                                                        \
	"p.*, o.name as organization_name, (select count(*) from workspaces w where w.project_id = p.id) as "          \
	"workspace_count, coalesce(p.settings->>'default-execution-mode', o.settings->>'default-execution-mode', "     \
	"'remote') as mode "

#define TABLES "from projects p join organizations o on o.id = p.organization_id "

static int name_taken(struct store *store, struct err *err)
{
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), "projects_name"))
		return err_at(err, "/data/attributes/name", "Name has already been taken");
	return -1;
}

int projects_list(struct store *store, const struct project_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id from projects where organization_id = $1 "
		"and ($2::text is null or strpos(lower(name), lower($2)) > 0) "
		"and ($3::text is null or lower(name) = any(string_to_array(lower($3), ',')))) "
		"select c.total, p.* from (select count(*) as total from found) c left join "
		"(select " COLUMNS TABLES "where p.id in (select id from found) "
		"order by p.is_default desc, lower(p.name) limit $4 offset $5) p on true "
		"order by p.is_default desc, lower(p.name)",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->names), P_INT(list->limit),
		P_INT(list->offset));
}

int project_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where p.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "project not found");
}

int projects_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " COLUMNS TABLES "where p.id = any($1::text[]) order by lower(p.name), p.id", P_ARRAY(ids));
}

int project_create(struct store *store, const char *organization_id, const struct project *project, struct id *ret_id,
	struct err *err)
{
	_cleanup_(freep) char *settings = json_text(project->settings);
	struct id id = id_new("prj");

	if (db_query(store->db, NULL, err,
		    "insert into projects (id, organization_id, name, description, settings) "
		    "values ($1, $2, $3, $4, jsonb_strip_nulls($5::jsonb))",
		    P_TEXT(id.text), P_TEXT(organization_id), P_TEXT(project->name), P_TEXT(project->description),
		    P_TEXT(settings)) < 0)
		return name_taken(store, err);
	*ret_id = id;
	return 0;
}

int project_update(struct store *store, const char *id, const struct project *project, struct err *err)
{
	_cleanup_(freep) char *settings = json_text(project->settings);

	if (db_query(store->db, NULL, err,
		    "update projects set name = $2, description = $3, "
		    "settings = jsonb_strip_nulls(settings || $4::jsonb), updated_at = now() where id = $1",
		    P_TEXT(id), P_TEXT(project->name), P_TEXT(project->description), P_TEXT(settings)) < 0)
		return name_taken(store, err);
	return 0;
}

int project_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* A workspace that comes in between keeps it by its foreign key. */
	if (db_query(store->db, &rows, err,
		    "delete from projects p where id = $1 and not is_default "
		    "and not exists (select 1 from workspaces where project_id = p.id)",
		    P_TEXT(id)) < 0)
		return -1;
	if (db_affected(&rows))
		return 0;
	return err_set(err, ERR_CONFLICT, "a project that has workspaces, and the default one, can't be deleted");
}
