/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policies.h"

#include "scheduler/store/names.h"
#include "scheduler/store/content/blobs.h"

#define COLUMNS                                                                                                        \
	"p.*, o.name as organization_name, coalesce(s.ids, '[]') as policy_sets, coalesce(s.count, 0) as "             \
	"policy_set_count "

#define TABLES                                                                                                         \
	"from policies p join organizations o on o.id = p.organization_id left join lateral "                          \
	"(select jsonb_agg(m.policy_set_id order by m.policy_set_id) as ids, count(*) as count "                       \
	"from policy_set_policies m where m.policy_id = p.id) s on true "

int policies_list(struct store *store, const struct policy_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"with found as (select id from policies where organization_id = $1 "
		"and ($2::text is null or strpos(lower(name), lower($2)) > 0) and ($3::text is null or kind = $3)) "
		"select c.total, p.* from (select count(*) as total from found) c left join "
		"(select " COLUMNS TABLES "where p.id in (select id from found) "
		"order by lower(p.name) limit $4 offset $5) p on true order by lower(p.name)",
		P_TEXT(list->organization_id), P_TEXT(list->search), P_TEXT(list->kind), P_INT(list->limit),
		P_INT(list->offset));
}

int policy_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS TABLES "where p.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "policy not found");
}

int policies_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS TABLES "where p.id = any($1::text[]) order by lower(p.name), p.id", P_ARRAY(ids));
}

int policy_create(struct store *store, const char *organization_id, const struct policy *policy, struct id *ret_id,
	struct err *err)
{
	struct id id = id_new("pol");

	if (db_query(store->db, NULL, err,
		    "insert into policies (id, organization_id, name, kind, description, query, enforcement) "
		    "values ($1, $2, $3, $4, $5, $6, $7)",
		    P_TEXT(id.text), P_TEXT(organization_id), P_TEXT(policy->name), P_TEXT(policy->kind),
		    P_TEXT(policy->description), P_TEXT(policy->query), P_TEXT(policy->enforcement)) < 0)
		return name_taken(store, "policies_name", err);
	*ret_id = id;
	return 0;
}

int policy_update(struct store *store, const char *id, const struct policy *policy, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update policies set description = $2, query = $3, enforcement = $4, updated_at = now() where id = $1",
		P_TEXT(id), P_TEXT(policy->description), P_TEXT(policy->query), P_TEXT(policy->enforcement));
}

int policy_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from policies where id = $1", P_TEXT(id));
}

/* ---- the policy's text ---- */

struct upload {
	struct store *store;
	const char *id;
	const void *bytes;
	size_t len;
};

static int upload_in(void *data, struct err *err)
{
	const struct upload *u = data;
	struct id blob;

	if (blob_put_shared(u->store, u->bytes, u->len, &blob, err) < 0)
		return -1;
	return db_query(u->store->db, NULL, err, "update policies set blob_id = $2, updated_at = now() where id = $1",
		P_TEXT(u->id), P_TEXT(blob.text));
}

int policy_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct upload u = {store, id, bytes, len};

	return db_transaction(store->db, upload_in, &u, err);
}
