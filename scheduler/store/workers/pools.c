/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/pools.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/workers/agents.h"
#include "scheduler/store/workers/quotas.h"

#define RELATED(table, column, condition)                                                                              \
	"(select coalesce(jsonb_agg(m." column " order by m." column "), '[]') from " table " m where " condition      \
	") as "

/* Only workspaces and projects that the requester may see. */
#define EVERYWHERE(user, bit) "((" RIGHTS_IN_ORGANIZATION(user, "p.organization_id") ") & " bit " <> 0)"
#define WORKSPACES(user, table, column, condition)                                                                     \
	RELATED(table, column, condition " and " WORKSPACE_IN_SCOPE(EVERYWHERE(user, "1"), user, "m." column))

#define ALLOWED_PROJECTS(user)                                                                                         \
	RELATED("agent_pool_projects", "project_id",                                                                   \
		"m.pool_id = p.id and " PROJECT_IN_SCOPE(EVERYWHERE(user, "1048576"), user, "m.project_id"))           \
	"allowed_projects "
#define LISTED_WORKSPACES(user, condition)                                                                             \
	WORKSPACES(user, "agent_pool_workspaces", "workspace_id", "m.pool_id = p.id and " condition)

#define COLUMNS(user)                                                                                                  \
	"p.*, coalesce((select runs from run_quotas q where q.pool_id = p.id), 0) as run_limit, "                      \
	"o.name as organization_name, (select count(*) from workers k where k.pool_id = p.id and "                     \
	"not " AGENT_GONE("k") ") as agent_count, " WORKSPACES(                                                        \
		user, "workspaces", "id", "m.pool_id = p.id") "workspaces, " LISTED_WORKSPACES(user,                   \
		"not m.excluded") "allowed_workspaces, " LISTED_WORKSPACES(user,                                       \
		"m.excluded") "excluded_workspaces, " ALLOWED_PROJECTS(user)

#define TABLES "from agent_pools p left join organizations o on o.id = p.organization_id "

/* Whether the pool p is available to that workspace of that project. */
#define MAY_USE(workspace, project)                                                                                    \
	"((p.organization_scoped or exists (select 1 from agent_pool_workspaces m where m.pool_id = p.id "             \
	"and m.workspace_id = " workspace " and not m.excluded) or exists (select 1 from agent_pool_projects m "       \
	"where m.pool_id = p.id and m.project_id = " project ")) and not exists (select 1 from "                       \
	"agent_pool_workspaces m where m.pool_id = p.id and m.workspace_id = " workspace " and m.excluded))"

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "agent pool not found");
}

#define USED_BY_WORKSPACE                                                                                              \
	"($4::text is null and $5::text is null or exists (select 1 from workspaces w where w.organization_id = $1 "   \
	"and ($4 is null or w.id = $4) and ($5 is null or lower(w.name) = lower($5)) "                                 \
	"and " WORKSPACE_IN_SCOPE("$11", "$10", "w.id") "and " MAY_USE("w.id", "w.project_id") ")) "

#define USED_BY_PROJECT                                                                                                \
	"($6::text is null and $7::text is null or exists (select 1 from projects j where j.organization_id = $1 "     \
	"and ($6 is null or j.id = $6) and ($7 is null or lower(j.name) = lower($7)) "                                 \
	"and " PROJECT_IN_SCOPE("$12", "$10", "j.id") "and " MAY_USE("null", "j.id") ")) "

#define FOUND                                                                                                          \
	"select p.id, row_number() over (order by case when $3::text = 'created-at' then p.created_at end, "           \
	"case when $3 = '-created-at' then p.created_at end desc, "                                                    \
	"case when $3 = '-name' then lower(p.name) end desc, lower(p.name), p.id) as place from agent_pools p "        \
	"where p.organization_id = $1 and ($2::text is null or strpos(lower(p.name), lower($2)) > 0) "                 \
	"and " USED_BY_WORKSPACE "and " USED_BY_PROJECT

int pools_list(struct store *store, const struct pool_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (" FOUND "), page as (select * from found order by place limit $8 offset $9), "
		"shown as (select f.place, " COLUMNS("$10") TABLES
		"join page f on f.id = p.id) "
		"select c.total, p.* from (select count(*) as total from found) c left join shown p on true "
		"order by p.place",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->sort), P_TEXT(list->workspace_id),
		P_TEXT(list->workspace_name), P_TEXT(list->project_id), P_TEXT(list->project_name), P_INT(list->limit),
		P_INT(list->offset), P_TEXT(response_scope_user(store->scope)),
		P_BOOL(response_scope_all(store->scope, list->organization_id, CAN_READ_WORKSPACE)),
		P_BOOL(response_scope_all(store->scope, list->organization_id, CAN_READ_PROJECT)));
}

int pool_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS("$2") TABLES "where p.id = $1", P_TEXT(id),
		    P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int pool_find(struct store *store, const char *name, struct pool_name *ret_pool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select p.id, p.organization_id from agent_pools p left join organizations o on o.id = "
		    "p.organization_id where p.id = $1 or lower(coalesce(o.name || '/', '') || p.name) = lower($1)",
		    P_TEXT(name)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND,
			"there is no agent pool '%s': name it by its id, as ORGANIZATION/NAME, or the shared one as "
			"NAME",
			name);
	text_copy(ret_pool->id.text, ID_SIZE, row_text(&rows, 0, "id"));
	text_copy(ret_pool->organization.text, ID_SIZE, row_text(&rows, 0, "organization_id"));
	return 0;
}

int pools_shared(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, "select " COLUMNS("$1") TABLES "where p.organization_id is null",
		P_TEXT(response_scope_user(store->scope)));
}

/* ---- scope ---- */

/* Replaces the related ids by those that are in the organization, and returns the number of these. */
#define REPLACE(of, condition, into)                                                                                   \
	"with may as (select x.id from agent_pools p join " of " x on x.organization_id = p.organization_id "          \
	"where p.id = $1 and x.id = any($2::text[])), gone as (delete from " condition "), done as (insert into " into \
	") select count(*) as found from may"

#define REPLACE_WORKSPACES(excluded)                                                                                   \
	REPLACE("workspaces",                                                                                          \
		"agent_pool_workspaces where pool_id = $1 and excluded = " excluded                                    \
		" and not (workspace_id = any($2))",                                                                   \
		"agent_pool_workspaces (pool_id, workspace_id, excluded) select $1, id, " excluded                     \
		" from may on conflict (pool_id, workspace_id) do update set excluded = " excluded)

static const struct {
	const char *what, *pointer, *replace;
} relations[POOL_RELATIONS] = {
	[POOL_ALLOWED_WORKSPACES] = {"Allowed workspaces", "/data/relationships/allowed-workspaces",
		REPLACE_WORKSPACES("false")},
	[POOL_ALLOWED_PROJECTS] = {"Allowed projects", "/data/relationships/allowed-projects",
		REPLACE("projects", "agent_pool_projects where pool_id = $1 and not (project_id = any($2))",
			"agent_pool_projects (pool_id, project_id) select $1, id from may on conflict do nothing")},
	[POOL_EXCLUDED_WORKSPACES] = {"Excluded workspaces", "/data/relationships/excluded-workspaces",
		REPLACE_WORKSPACES("true")},
};

static int replace_related(
	struct store *store, const char *id, enum pool_relation relation, const json_t *related, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&ids, related);
	if (db_query(store->db, &rows, err, relations[relation].replace, P_TEXT(id), P_ARRAY(&ids)) < 0)
		return -1;
	if (row_int(&rows, 0, "found") == (long long)json_array_size(related))
		return 0;
	return err_at(err, relations[relation].pointer, "%s must exist in the agent pool's organization",
		relations[relation].what);
}

/* ---- creating and changing ---- */

struct change {
	struct store *store;
	const char *organization_id; /* for creation; else NULL */
	const struct pool *pool;
	struct id id;
};

static int change_row(struct change *c, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (c->organization_id)
		return db_query(c->store->db, NULL, err,
			"insert into agent_pools (id, organization_id, name, organization_scoped) values ($1, $2, $3, "
			"$4)",
			P_TEXT(c->id.text), P_TEXT(c->organization_id), P_TEXT(c->pool->name),
			P_BOOL(c->pool->organization_scoped));
	if (db_query(c->store->db, &rows, err,
		    "update agent_pools set name = $2, organization_scoped = $3 where id = $1", P_TEXT(c->id.text),
		    P_TEXT(c->pool->name), P_BOOL(c->pool->organization_scoped)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : not_found(err);
}

static int change_in(void *data, struct err *err)
{
	struct change *c = data;

	if (change_row(c, err) < 0)
		return -1;
	for (enum pool_relation r = 0; r < POOL_RELATIONS; r++)
		if (c->pool->related[r] && replace_related(c->store, c->id.text, r, c->pool->related[r], err) < 0)
			return -1;
	return c->pool->run_limit < 0
		? 0
		: quota_set(c->store, &(struct quota_owner){.pool_id = c->id.text}, c->pool->run_limit, err);
}

int pool_create(
	struct store *store, const char *organization_id, const struct pool *pool, struct id *ret_id, struct err *err)
{
	struct change c = {store, organization_id, pool, id_new("apool")};

	if (db_transaction(store->db, change_in, &c, err) < 0)
		return name_taken(store, "agent_pools_name", err);
	*ret_id = c.id;
	return 0;
}

int pool_update(struct store *store, const char *id, const struct pool *pool, struct err *err)
{
	struct change c = {store, NULL, pool, {""}};

	text_copy(c.id.text, sizeof(c.id.text), id);
	return db_transaction(store->db, change_in, &c, err) < 0 ? name_taken(store, "agent_pools_name", err) : 0;
}

struct deletion {
	struct store *store;
	const char *id;
};

/* Locks the pool first. Every new user of the pool takes a share lock on it, by a foreign key or by pool_use_check. */
static int delete_in(void *data, struct err *err)
{
	static const struct {
		const char *column, *what;
	} users[] = {{"is_shared", "every workspace without a pool of its own"}, {"workspaces", "workspaces"},
		{"runs", "runs that have not ended"}, {"connections", "OAuth clients"},
		{"installations", "installations of the GitHub App"},
		{"defaults", "the organization or a project, by default"}};
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(d->store->db, NULL, err, "select 1 from agent_pools where id = $1 for update", P_TEXT(d->id)) <
			0 ||
		db_query(d->store->db, &rows, err,
			"select exists (select 1 from agent_pools where id = $1 and organization_id is null) as "
			"is_shared, "
			"exists (select 1 from workspaces where pool_id = $1) as workspaces, "
			"exists (select 1 from vcs_connections where pool_id = $1 or fork_pool_id = $1) as "
			"connections, "
			"exists (select 1 from vcs_installations where pool_id = $1 or fork_pool_id = $1) as "
			"installations, "
			"exists (select 1 from agent_pools p join organizations o on o.id = p.organization_id "
			"left join projects j on j.organization_id = o.id where p.id = $1 and $1 in "
			"(o.default_pool_id, j.default_pool_id)) as defaults, "
			"exists (select 1 from agent_pools p join runs r on r.organization_id = p.organization_id "
			"and not r.ended join run_inputs i on i.run_id = r.id where p.id = $1 and i.pool_id = $1) as "
			"runs",
			P_TEXT(d->id)) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(users); i++)
		if (row_bool(&rows, 0, users[i].column))
			return err_set(err, ERR_CONFLICT, "the agent pool is in use by %s", users[i].what);
	if (db_queue(d->store->db, err, "update run_inputs set pool_id = null where pool_id = $1", P_TEXT(d->id)) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, "delete from agent_pools where id = $1", P_TEXT(d->id));
}

int pool_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}

/* ---- use ---- */

/* clang-format off */
static const char use_sql[] =
	"select case when $6::boolean then true when $5::boolean then p.organization_scoped else "
	MAY_USE("$4", "coalesce($3, (select project_id from workspaces where id = $4), "
		"(select id from projects where organization_id = $2 and is_default))")
	" end as may from agent_pools p where p.id = $1 and p.organization_id = $2 for key share of p";
/* clang-format on */

int pool_use_check(
	struct store *store, const char *pool_id, const struct pool_use *use, const char *pointer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, use_sql, P_TEXT(pool_id), P_TEXT(use->organization_id),
		    P_TEXT(use->project_id), P_TEXT(use->workspace_id), P_BOOL(use->anywhere),
		    P_BOOL(use->any_scope)) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer, "Agent pool does not exist");
	return row_bool(&rows, 0, "may") ? 0 : err_at(err, pointer, "Agent pool is not allowed to be used here");
}
