/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/organizations.h"

#include "scheduler/store/access/teams.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/vcs/calls/removals.h"

/* `user` is the number of the requester's parameter (store/access/response_scope.h). */
#define COLUMNS(user)                                                                                                  \
	RIGHTS_IN_ORGANIZATION(user, "o.id")                                                                           \
	"as rights, o.id, o.name, o.email, o.settings, o.default_pool_id, o.created_at, (select p.id from projects p " \
	"where "                                                                                                       \
	"p.organization_id = o.id and p.is_default) as default_project_id, r.id as retention_id, "                     \
	"r.delete_older_than_n_days is null as retains_all "

#define TABLES "from organizations o left join data_retention_policies r on r.organization_id = o.id "

struct creation {
	struct store *store;
	const struct organization_order *order;
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	struct creation *c = data;
	_cleanup_(freep) char *settings = c->order->settings ? json_text(c->order->settings) : mem_text("{}");

	c->id = id_new("org");
	if (db_query(c->store->db, NULL, err,
		    "insert into organizations (id, name, email, settings, default_pool_id) values ($1, $2, $3, "
		    "$4::jsonb, $5)",
		    P_TEXT(c->id.text), P_TEXT(c->order->name), P_TEXT(c->order->email), P_TEXT(settings),
		    P_TEXT(c->order->pool_id)) < 0 ||
		db_query(c->store->db, NULL, err,
			"insert into projects (id, organization_id, name, is_default) "
			"values ($1, $2, 'Default Project', true)",
			P_TEXT(id_new("prj").text), P_TEXT(c->id.text)) < 0)
		return -1;
	if (teams_begin(c->store, c->id.text, err) < 0)
		return -1;
	return owners_join(c->store, c->id.text, c->order->owner, err);
}

int organization_create(struct store *store, const struct organization_order *order, struct id *ret_id, struct err *err)
{
	struct creation c = {.store = store, .order = order};

	if (db_transaction(store->db, create_in, &c, err) < 0)
		return name_taken(store, "organizations_name", err);
	*ret_id = c.id;
	return 0;
}

int organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS("$2") TABLES "where lower(o.name) = lower($1)",
		    P_TEXT(name), P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "organization not found");
}

static const char lookup_sql[] = "select id, name from organizations where lower(name) = lower($1)";

int organization_lookup(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, lookup_sql, P_TEXT(name));
}

int organization_lookup_ask(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, lookup_sql, P_TEXT(name));
}

int organizations_read_all(struct store *store, struct db_array *names, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS("$2") TABLES
		"where lower(o.name) in (select lower(x) from unnest($1::text[]) x) order by lower(o.name)",
		P_ARRAY(names), P_TEXT(response_scope_user(store->scope)));
}

int organizations_list(
	struct store *store, const struct organization_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select o.id, lower(o.name) as name from organizations o where ($1::text is null or "
		"exists "
		"(select 1 from organization_memberships m where m.organization_id = o.id and m.user_id = $1 and "
		"m.status = 'active' and not o.is_disabled) and not exists (select 1 from teams t where t.user_id = $1 "
		"and t.kind = "
		"'audit')) "
		"and ($2::text is null or strpos(lower(o.name), lower($2)) > 0 "
		"or strpos(lower(o.email), lower($2)) > 0)) "
		"select t.total, f.* from (select count(*) as total from found) t left join (select " COLUMNS("$5")
			TABLES
		"where o.id in (select id from found order by name limit $3 offset $4)) f on true order by "
		"lower(f.name)",
		P_TEXT(list->user_id), P_TEXT(list->search), P_INT(list->limit), P_INT(list->offset),
		P_TEXT(response_scope_user(store->scope)));
}

int organization_update(struct store *store, const struct organization_update *update, struct err *err)
{
	_cleanup_(freep) char *settings = update->settings ? json_text(update->settings) : mem_text("{}");

	if (db_query(store->db, NULL, err,
		    "update organizations set name = coalesce($2, name), email = coalesce($3, email), "
		    "settings = settings || $4::jsonb, "
		    "default_pool_id = case when $5 then $6 else default_pool_id end where id = $1",
		    P_TEXT(update->id), P_TEXT(update->name), P_TEXT(update->email), P_TEXT(settings),
		    P_BOOL(update->pool_set), P_TEXT(update->pool_id)) < 0)
		return name_taken(store, "organizations_name", err);
	return 0;
}

struct deletion {
	struct store *store;
	const char *id;
};

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* Locks workspaces before jobs, as everywhere. A claim locks its job, so no apply starts between the check and
	 * the deletion. */
	if (db_query(d->store->db, NULL, err,
		    "select 1 from workspaces where organization_id = $1 order by id for update", P_TEXT(d->id)) < 0 ||
		db_query(d->store->db, &rows, err,
			"select state = 'claimed' and stage = 'apply' as applying from jobs where run_id in "
			"(select id from runs where organization_id = $1 and not ended) order by id for update",
			P_TEXT(d->id)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (row_bool(&rows, i, "applying"))
			return err_set(
				err, ERR_CONFLICT, "an apply in the organization is being worked on: cancel it first");
	/* Runs refer to configuration versions and pools, so they are deleted first. */
	if (db_query(d->store->db, NULL, err, "delete from runs where organization_id = $1", P_TEXT(d->id)) < 0)
		return -1;
	if (vcs_removals_add(d->store, &(struct vcs_removals_of){.organization_id = d->id}, err) < 0)
		return -1;
	return db_query(d->store->db, NULL, err, "delete from organizations where id = $1", P_TEXT(d->id));
}

int organization_delete(struct store *store, const char *id, struct err *err)
{
	struct deletion d = {store, id};

	return db_transaction(store->db, delete_in, &d, err);
}

int organization_capacity(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select count(*) filter (where state = 'waiting') as pending, "
		"count(*) filter (where state = 'claimed') as running from runs r join jobs j on j.run_id = r.id "
		"where r.organization_id = $1 and not r.ended",
		P_TEXT(id));
}
