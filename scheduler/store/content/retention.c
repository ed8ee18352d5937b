/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/retention.h"

#include "scheduler/store/content/expiry.h"
#include "scheduler/store/content/retention.sql.h"

int retention_read(struct store *store, struct retention_owner owner, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, retention_read, .organization_id = owner.organization_id,
		    .workspace_id = owner.workspace_id) < 0)
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

	if (db_query(k->store->db, NULL, err, retention_delete_other_kind, .organization_id = k->owner.organization_id,
		    .workspace_id = k->owner.workspace_id, .days = k->days) < 0)
		return -1;
	if (db_query(k->store->db, NULL, err, retention_write, .organization_id = k->owner.organization_id,
		    .workspace_id = k->owner.workspace_id, .days = k->days, .new_id = id.text) < 0)
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

	if (db_query(k->store->db, NULL, err, retention_delete, .organization_id = k->owner.organization_id,
		    .workspace_id = k->owner.workspace_id) < 0)
		return -1;
	return expiry_restart(k->store, err);
}

int retention_delete(struct store *store, struct retention_owner owner, struct err *err)
{
	struct keeping k = {.store = store, .owner = owner};

	return db_transaction(store->db, delete_in, &k, err);
}
