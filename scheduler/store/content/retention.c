/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/retention.h"

#include "scheduler/store/content/expiry.h"

#define OWNED "(organization_id = $1 or workspace_id = $2)"

int retention_read(struct store *store, struct retention_owner owner, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select id, delete_older_than_n_days as days from data_retention_policies where " OWNED,
		    P_TEXT(owner.organization_id), P_TEXT(owner.workspace_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "data retention policy not found");
}

struct keeping {
	struct store *store;
	struct retention_owner owner;
	long long days;
};

/* A policy of the other kind replaces the row and gets a new id. A change of its days keeps the id. */
static int write_in(void *data, struct err *err)
{
	const struct keeping *k = data;
	struct id id = id_new("drp");

	if (db_query(k->store->db, NULL, err,
		    "delete from data_retention_policies where " OWNED
		    " and (delete_older_than_n_days is null) <> ($3::bigint = 0)",
		    P_TEXT(k->owner.organization_id), P_TEXT(k->owner.workspace_id), P_INT(k->days)) < 0)
		return -1;
	if (db_query(k->store->db, NULL, err,
		    "with kept as (update data_retention_policies set delete_older_than_n_days = nullif($3::bigint, 0) "
		    "where " OWNED
		    " returning 1) insert into data_retention_policies (id, organization_id, workspace_id, "
		    "delete_older_than_n_days) select $4, $1, $2, nullif($3::bigint, 0) where not exists "
		    "(select 1 from kept)",
		    P_TEXT(k->owner.organization_id), P_TEXT(k->owner.workspace_id), P_INT(k->days),
		    P_TEXT(id.text)) < 0)
		return -1;
	return expiry_restart(k->store, err);
}

int retention_write(struct store *store, struct retention_owner owner, long long days, struct err *err)
{
	struct keeping k = {store, owner, days};

	return db_transaction(store->db, write_in, &k, err);
}

static int delete_in(void *data, struct err *err)
{
	const struct keeping *k = data;

	if (db_query(k->store->db, NULL, err, "delete from data_retention_policies where " OWNED,
		    P_TEXT(k->owner.organization_id), P_TEXT(k->owner.workspace_id)) < 0)
		return -1;
	return expiry_restart(k->store, err);
}

int retention_delete(struct store *store, struct retention_owner owner, struct err *err)
{
	struct keeping k = {.store = store, .owner = owner};

	return db_transaction(store->db, delete_in, &k, err);
}
