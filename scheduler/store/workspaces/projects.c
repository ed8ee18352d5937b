/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/projects.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"

/* `user` is the number of the requester's parameter (store/access/response_scope.h). */
#define COLUMNS(user)                                                                                                  \
	RIGHTS_IN_PROJECT(user, "p.organization_id", "p.id")                                                           \
	"as rights, p.*, o.name as organization_name, " INHERITED_MODE                                                 \
	" as mode, coalesce((select workspaces from project_totals where project_id = p.id), 0) as workspace_count "

#define TABLES "from projects p join organizations o on o.id = p.organization_id "

int projects_list(struct store *store, const struct project_list *list, struct rows *ret_rows, struct err *err)
{
	struct db_array *keys = list->tag_keys, *values = list->tag_values;

	return db_query(store->db, ret_rows, err,
		"with found as (select f.id from projects f where f.organization_id = $1 "
		"and ($2::text is null or strpos(lower(f.name), lower($2)) > 0) "
		"and ($3::text is null or lower(f.name) = any(string_to_array(lower($3), ','))) "
		"and ($6::text[] is null or not exists (select 1 from unnest($6::text[], $7::text[]) x(key, value) "
		"where not exists (select 1 from tag_bindings b join tags t on t.id = b.tag_id where b.project_id = "
		"f.id "
		"and lower(t.name) = lower(x.key) and (x.value = '' or b.value = x.value)))) and " PROJECT_IN_SCOPE(
			"$8", "$9",
			"f.id") ") "
				"select c.total, p.* from (select count(*) as total from found) c left join "
				"(select " COLUMNS("$9") TABLES
		"where p.id in (select id from found) "
		"order by p.is_default, lower(p.name) limit $4 offset $5) p on true "
		"order by p.is_default, lower(p.name)",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->names), P_INT(list->limit),
		P_INT(list->offset), P_TEXT(keys->count ? db_array_text(keys) : NULL),
		P_TEXT(keys->count ? db_array_text(values) : NULL),
		P_BOOL(response_scope_all(store->scope, list->organization_id, CAN_READ_PROJECT)),
		P_TEXT(response_scope_user(store->scope)));
}

int project_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS("$2") TABLES "where p.id = $1", P_TEXT(id),
		    P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "project not found");
}

int projects_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS("$2") TABLES "where p.id = any($1::text[]) and " SCOPE_HAS("$2",
			RIGHTS_IN_PROJECT("$2", "p.organization_id", "p.id"), "1048576") "order by lower(p.name), p.id",
		P_ARRAY(ids), P_TEXT(response_scope_user(store->scope)));
}

int project_belongs(
	struct store *store, const char *id, const char *organization_id, bool *ret_belongs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, "select 1 from projects where id = $1 and organization_id = $2", P_TEXT(id),
		    P_TEXT(organization_id)) < 0)
		return -1;
	*ret_belongs = rows.count > 0;
	return 0;
}

int project_default(struct store *store, const char *organization_id, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, "select id from projects where organization_id = $1 and is_default",
		    P_TEXT(organization_id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "organization not found");
	text_copy(ret_id->text, sizeof(ret_id->text), row_text(&rows, 0, "id"));
	return 0;
}

int project_inherited_mode(
	struct store *store, const char *organization_id, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " INHERITED_MODE " as mode, " INHERITED_POOL " as pool "
		"from organizations o join projects p on p.organization_id = o.id where o.id = $1 "
		"and case when $2::text is null then p.is_default else p.id = $2 end",
		P_TEXT(organization_id), P_TEXT(id));
}

int project_create(struct store *store, const char *organization_id, const struct project *project, struct id *ret_id,
	struct err *err)
{
	_cleanup_(freep) char *settings = json_text(project->settings);
	struct id id = id_new("prj");

	if (db_query(store->db, NULL, err,
		    "insert into projects (id, organization_id, name, description, settings, default_pool_id) "
		    "values ($1, $2, $3, $4, jsonb_strip_nulls($5::jsonb), $6)",
		    P_TEXT(id.text), P_TEXT(organization_id), P_TEXT(project->name), P_TEXT(project->description),
		    P_TEXT(settings), P_TEXT(project->pool_id)) < 0)
		return name_taken(store, "projects_name", err);
	*ret_id = id;
	return 0;
}

int project_update(struct store *store, const char *id, const struct project *project, struct err *err)
{
	_cleanup_(freep) char *settings = json_text(project->settings);

	if (db_query(store->db, NULL, err,
		    "update projects set name = $2, description = $3, default_pool_id = $5, "
		    "settings = jsonb_strip_nulls(settings || $4::jsonb), updated_at = now() where id = $1",
		    P_TEXT(id), P_TEXT(project->name), P_TEXT(project->description), P_TEXT(settings),
		    P_TEXT(project->pool_id)) < 0)
		return name_taken(store, "projects_name", err);
	return 0;
}

int project_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* The foreign key of a workspace that is added concurrently prevents the deletion. */
	if (db_query(store->db, &rows, err,
		    "delete from projects p where id = $1 and not is_default "
		    "and not exists (select 1 from workspaces where project_id = p.id)",
		    P_TEXT(id)) < 0)
		return -1;
	if (db_affected(&rows))
		return 0;
	return err_set(err, ERR_CONFLICT, "a project that has workspaces, and the default one, can't be deleted");
}
