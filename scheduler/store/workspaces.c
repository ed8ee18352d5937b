/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces.h"

#define WORKSPACE_COLUMNS                                                                                              \
	"w.id, w.organization_id, o.name as organization_name, w.project_id, w.pool_id, w.name, w.description, "       \
	"w.auto_apply, "                                                                                               \
	"w.execution_mode, w.terraform_version, w.working_directory, w.structured_run_output, w.settings, "            \
	"w.locked_by, w.locked_reason, w.current_run_id, w.latest_run_id, w.current_state_id, "                        \
	"w.current_configuration_id, w.created_at, w.updated_at, u.username as locker, "                               \
	"coalesce(s.created_at, w.created_at) as latest_change_at, "                                                   \
	"coalesce((select sum((r->>'count')::bigint) from jsonb_array_elements(s.resources) r), 0) as "                \
	"resource_count, "                                                                                             \
	"k.run_count, k.run_failures, "                                                                                \
	"(select coalesce(jsonb_agg(v.id order by v.key, v.category), '[]') from variables v "                         \
	"where v.workspace_id = w.id) as variable_ids "

#define WORKSPACE_JOINS                                                                                                \
	"join organizations o on o.id = w.organization_id "                                                            \
	"left join users u on u.id = w.locked_by "                                                                     \
	"left join state_versions s on s.id = w.current_state_id "                                                     \
	"left join lateral (select count(*) as run_count, count(*) filter (where x.status = 'errored') as "            \
	"run_failures from (select r.status from runs r where r.workspace_id = w.id order by r.position desc "         \
	"limit 30) x) k on true "

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "workspace not found");
}

int workspace_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " WORKSPACE_COLUMNS "from workspaces w " WORKSPACE_JOINS "where w.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int workspaces_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " WORKSPACE_COLUMNS "from workspaces w " WORKSPACE_JOINS
		"where w.id = any($1::text[]) order by lower(w.name), w.id",
		P_ARRAY(ids));
}

/* A pattern of `like` from one with asterisks: what is special there stands for itself. */
#define WILDCARD(text)                                                                                                 \
	"replace(replace(replace(replace(lower(" text "), '\\', '\\\\'), '%', '\\%'), '_', '\\_'), '*', '%')"

int workspaces_list(struct store *store, const struct workspace_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select f.id, row_number() over (order by "
		"case when $5::text = 'name' then lower(f.name) end, "
		"case when $5 = '-name' then lower(f.name) end desc, "
		"case when $5 = 'current-run.created-at' then r.created_at end nulls last, "
		"case when $5 = '-current-run.created-at' then r.created_at end desc nulls last, "
		"case when $5 = 'latest-change-at' then coalesce(s.created_at, f.created_at) end, "
		"case when $5 = '-latest-change-at' then coalesce(s.created_at, f.created_at) end desc, "
		"f.created_at, f.id) as place from workspaces f "
		"left join runs r on r.id = coalesce(f.current_run_id, f.latest_run_id) "
		"left join state_versions s on s.id = f.current_state_id "
		"where f.organization_id = $1 and ($2::text is null or strpos(lower(f.name), lower($2)) > 0) "
		"and ($3::text is null or lower(f.name) like " WILDCARD(
			"$3") ") "
			      "and ($4::text is null or r.status = any (string_to_array($4, ','))) "
			      "and ($8::text is null or f.project_id = any (string_to_array($8, ',')))) "
			      "select t.total, w.* from (select count(*) as total from found) t left join ("
			      "select p.place, " WORKSPACE_COLUMNS
			      "from (select * from found order by place limit $6 offset $7) p "
			      "join workspaces w on w.id = p.id " WORKSPACE_JOINS ") w on true order by w.place",
		P_TEXT(list->organization_id), P_TEXT(list->name), P_TEXT(list->wildcard), P_TEXT(list->run_status),
		P_TEXT(list->sort), P_INT(list->limit), P_INT(list->offset), P_TEXT(list->project_ids));
}

/* ---- creating and changing ---- */

static int name_taken(struct store *store, struct err *err)
{
	if (err->kind == ERR_CONFLICT && text_equal(db_constraint(store->db), "workspaces_name"))
		return err_at(err, "/data/attributes/name", "Name has already been taken");
	return -1;
}

int workspace_create(struct store *store, const char *organization_id, const json_t *fields, const json_t *settings,
	struct id *ret_id, struct err *err)
{
	_cleanup_(freep) char *fields_text = json_text(fields);
	_cleanup_(freep) char *settings_text = json_text(settings);
	struct id id = id_new("ws");

	if (db_query(store->db, NULL, err,
		    "insert into workspaces (id, organization_id, settings, name, description, auto_apply, "
		    "execution_mode, terraform_version, working_directory, structured_run_output, pool_id, "
		    "project_id) "
		    "select $1, $2, $4::jsonb, f->>'name', f->>'description', "
		    "coalesce((f->>'auto-apply')::boolean, false), coalesce(f->>'execution-mode', 'remote'), "
		    "coalesce(f->>'terraform-version', ''), coalesce(f->>'working-directory', ''), "
		    "coalesce((f->>'structured-run-output-enabled')::boolean, true), f->>'agent-pool-id', "
		    "coalesce(f->>'project-id', (select id from projects where organization_id = $2 and is_default)) "
		    "from (select $3::jsonb as f) x",
		    P_TEXT(id.text), P_TEXT(organization_id), P_TEXT(fields_text), P_TEXT(settings_text)) < 0)
		return name_taken(store, err);
	*ret_id = id;
	return 0;
}

int workspace_update(struct store *store, const char *id, const json_t *fields, const json_t *settings, struct err *err)
{
	_cleanup_(freep) char *fields_text = json_text(fields);
	_cleanup_(freep) char *settings_text = json_text(settings);

	if (db_query(store->db, NULL, err,
		    "update workspaces set settings = settings || $3::jsonb, name = coalesce(f->>'name', name), "
		    "description = case when f ? 'description' then f->>'description' else description end, "
		    "auto_apply = coalesce((f->>'auto-apply')::boolean, auto_apply), "
		    "execution_mode = coalesce(f->>'execution-mode', execution_mode), "
		    "terraform_version = coalesce(f->>'terraform-version', terraform_version), "
		    "working_directory = coalesce(f->>'working-directory', working_directory), "
		    "structured_run_output = coalesce((f->>'structured-run-output-enabled')::boolean, "
		    "structured_run_output), "
		    "pool_id = case when f ? 'agent-pool-id' then f->>'agent-pool-id' else pool_id end, "
		    "project_id = coalesce(f->>'project-id', project_id), updated_at = now() from (select $2::jsonb as "
		    "f) x where id = $1",
		    P_TEXT(id), P_TEXT(fields_text), P_TEXT(settings_text)) < 0)
		return name_taken(store, err);
	return 0;
}

int workspaces_inherit_mode(struct store *store, const char *organization_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update workspaces w set execution_mode = m.mode, pool_id = m.pool, updated_at = now() "
		"from projects p join organizations o on o.id = p.organization_id cross join lateral (select "
		"coalesce(p.settings->>'default-execution-mode', o.settings->>'default-execution-mode', 'remote') as "
		"mode, "
		"p.settings->>'default-agent-pool-id' as pool) m "
		"where p.id = w.project_id and w.organization_id = $1 "
		"and w.settings->'setting-overwrites'->'execution-mode' = 'false' "
		"and (w.execution_mode, w.pool_id) is distinct from (m.mode, m.pool)",
		P_TEXT(organization_id));
}

/* ---- deleting ---- */

struct deletion {
	struct store *store;
	const char *id;
	bool safe;
};

static int delete_check(const struct rows *rows, bool applying, bool safe, struct err *err)
{
	if (!rows->count)
		return not_found(err);
	if (safe && row_bool(rows, 0, "locked"))
		return err_set(err, ERR_CONFLICT, "the workspace is locked: it can't be deleted safely");
	if (applying)
		return err_set(err, ERR_CONFLICT, "an apply of the workspace is being worked on: cancel it first");
	if (safe && row_bool(rows, 0, "manages"))
		return err_set(err, ERR_CONFLICT,
			"the workspace is managing resources: destroy them first, or force its deletion");
	return 0;
}

/* Keeps a worker's claim, which locks the job's row, from coming between the check and the end. */
static int jobs_lock(struct store *store, const char *id, bool *ret_applying, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select state = 'claimed' and stage = 'apply' as applying from jobs where workspace_id = $1 order "
		    "by id for update",
		    P_TEXT(id)) < 0)
		return -1;
	*ret_applying = false;
	for (int i = 0; i < rows.count; i++)
		*ret_applying |= row_bool(&rows, i, "applying");
	return 0;
}

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool applying;

	if (db_query(d->store->db, &rows, err,
		    "select (w.locked_by is not null or w.current_run_id is not null) as locked, "
		    "exists (select 1 from state_versions s, jsonb_array_elements(s.resources) r "
		    "where s.id = w.current_state_id and r->>'type' not like 'data.%') as manages from workspaces w "
		    "where w.id = $1 for update",
		    P_TEXT(d->id)) < 0 ||
		jobs_lock(d->store, d->id, &applying, err) < 0 || delete_check(&rows, applying, d->safe, err) < 0)
		return -1;
	/* Runs point at configuration versions, so they go first. */
	if (db_query(d->store->db, NULL, err, "delete from runs where workspace_id = $1", P_TEXT(d->id)) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, "delete from workspaces where id = $1", P_TEXT(d->id));
}

int workspace_delete(struct store *store, const char *id, bool safe, struct err *err)
{
	struct deletion d = {store, id, safe};

	return db_transaction(store->db, delete_in, &d, err);
}

/* ---- the lock ---- */

int workspace_lock(struct store *store, const char *id, const char *user_id, const char *reason, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update workspaces set locked_by = $2, locked_reason = $3 "
		    "where id = $1 and locked_by is null and current_run_id is null",
		    P_TEXT(id), P_TEXT(user_id), P_TEXT(reason)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_CONFLICT, "the workspace is already locked");
}

struct unlocking {
	struct store *store;
	const char *id, *user_id;
	bool force;
};

static int unlock_check(const struct rows *rows, const struct unlocking *u, struct err *err)
{
	const char *locker = rows->count ? row_text(rows, 0, "locked_by") : NULL;

	if (!rows->count)
		return not_found(err);
	if (!locker && !row_null(rows, 0, "current_run_id"))
		return err_set(
			err, ERR_CONFLICT, "the workspace is locked by Run %s", row_text(rows, 0, "current_run_id"));
	if (!locker)
		return err_set(err, ERR_CONFLICT, "the workspace is already unlocked");
	if (!u->force && !text_equal(locker, u->user_id))
		return err_set(err, ERR_CONFLICT, "the workspace is locked by User %s", row_text(rows, 0, "username"));
	if (!u->force && row_bool(rows, 0, "state_pending"))
		return err_set(err, ERR_INVALID, "the workspace's latest state version is still pending");
	return 0;
}

static int unlock_in(void *data, struct err *err)
{
	const struct unlocking *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(u->store->db, &rows, err,
		    "select w.locked_by, w.current_run_id, (select username from users where id = w.locked_by), "
		    "coalesce((select s.status = 'pending' from state_versions s where s.workspace_id = w.id "
		    "order by s.created_at desc, s.id limit 1), false) as state_pending "
		    "from workspaces w where w.id = $1 for update",
		    P_TEXT(u->id)) < 0 ||
		unlock_check(&rows, u, err) < 0)
		return -1;
	return db_query(u->store->db, NULL, err,
		"update workspaces set locked_by = null, locked_reason = null where id = $1", P_TEXT(u->id));
}

int workspace_unlock(struct store *store, const char *id, const char *user_id, bool force, struct err *err)
{
	struct unlocking u = {store, id, user_id, force};

	return db_transaction(store->db, unlock_in, &u, err);
}
