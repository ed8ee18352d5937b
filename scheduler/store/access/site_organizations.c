/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/site_organizations.h"

#define COLUMNS                                                                                                        \
	"o.id, o.name, o.email, o.created_at, o.is_disabled, o.admin_settings, "                                       \
	"coalesce((select runs from run_quotas q where q.organization_id = o.id), 0) as run_limit, "                   \
	"coalesce((select workspaces from organization_totals c where c.organization_id = o.id), 0) as workspaces, "   \
	"(select count(*) from runs r where r.organization_id = o.id and not r.ended) as current_runs, "               \
	"(select coalesce(jsonb_agg(u.id order by u.created_at, u.id), '[]') from teams t "                            \
	"join team_members m on m.team_id = t.id join users u on u.id = m.user_id "                                    \
	"where t.organization_id = o.id and t.kind = 'owners' and not u.is_service_account) as owners "

int site_organizations_list(
	struct store *store, const struct site_organizations *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id, lower(name) as name from organizations where ($1::text is null or "
		"strpos(lower(name), lower($1)) > 0 or strpos(lower(email), lower($1)) > 0) "
		"and ($2::text is null or id in (select consumer_id from module_consumers where organization_id = "
		"$2))) "
		"select c.total, f.* from (select count(*) as total from found) c left join (select " COLUMNS
		"from organizations o where o.id in (select id from found order by name limit $3 offset $4)) f on true "
		"order by lower(f.name)",
		P_TEXT(list->search), P_TEXT(list->module_consumers_of), P_INT(list->limit), P_INT(list->offset));
}

int site_organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from organizations o where lower(o.name) = lower($1)",
		    P_TEXT(name)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "organization not found");
}

int site_organization_update(struct store *store, const char *id, const json_t *settings, struct err *err)
{
	_cleanup_(freep) char *text = json_text(settings);

	return db_query(store->db, NULL, err,
		"update organizations set is_disabled = coalesce(($2::jsonb->>'is-disabled')::boolean, is_disabled), "
		"admin_settings = admin_settings || ($2::jsonb - 'is-disabled') where id = $1",
		P_TEXT(id), P_TEXT(text));
}

struct sharing {
	struct store *store;
	const char *id;
	const json_t *names;
};

static int replace_in(void *data, struct err *err)
{
	const struct sharing *s = data;
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&names, s->names);
	if (db_query(s->store->db, NULL, err, "delete from module_consumers where organization_id = $1",
		    P_TEXT(s->id)) < 0 ||
		db_query(s->store->db, &rows, err,
			"with named as (select x as name, o.id from unnest($2::text[]) x "
			"left join organizations o on lower(o.name) = lower(x)), "
			"added as (insert into module_consumers (organization_id, consumer_id) "
			"select $1, id from named where id is not null on conflict do nothing) "
			"select name from named where id is null order by name limit 1",
			P_TEXT(s->id), P_ARRAY(&names)) < 0)
		return -1;
	if (rows.count)
		return err_at(err, "/data", "Organization %s not found", row_text(&rows, 0, "name"));
	return 0;
}

int module_consumers_replace(struct store *store, const char *id, const json_t *names, struct err *err)
{
	struct sharing s = {store, id, names};

	return db_transaction(store->db, replace_in, &s, err);
}
