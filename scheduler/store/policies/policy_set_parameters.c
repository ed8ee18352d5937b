/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_set_parameters.h"

#include "scheduler/store/content/seals.h"

enum { MAX_PARAMETERS = 1000, SEALED_LIMIT = 1 << 20 };

static int key_taken(struct err *err)
{
	return err->kind == ERR_CONFLICT ? err_at(err, "/data/attributes/key", "Key has already been taken") : -1;
}

int policy_set_parameters_list(
	struct store *store, const char *policy_set_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select c.total, p.* from (select count(*) as total from policy_set_parameters "
		"where policy_set_id = $1) c left join (select * from policy_set_parameters where policy_set_id = $1 "
		"order by key limit $2 offset $3) p on true order by p.key",
		P_TEXT(policy_set_id), P_INT(range.limit), P_INT(range.offset));
}

int policy_set_parameter_read(
	struct store *store, const char *policy_set_id, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select * from policy_set_parameters where policy_set_id = $1 and id = $2", P_TEXT(policy_set_id),
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "parameter not found");
}

int policy_set_parameter_create(struct store *store, const char *policy_set_id,
	const struct policy_set_parameter *parameter, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct id id = id_new("var");

	seal_text(store, id.text, text_or_empty(parameter->value), &sealed);
	if (db_query(store->db, &rows, err,
		    "insert into policy_set_parameters (id, policy_set_id, key, value_sealed, sensitive) "
		    "select $1, $2, $3, $4, $5 "
		    "where (select count(*) from policy_set_parameters where policy_set_id = $2) < $6::bigint",
		    P_TEXT(id.text), P_TEXT(policy_set_id), P_TEXT(parameter->key), P_BYTES(sealed.data, sealed.len),
		    P_BOOL(parameter->sensitive), P_INT(MAX_PARAMETERS)) < 0)
		return key_taken(err);
	if (!db_affected(&rows))
		return err_at(
			err, "/data", "The policy set has %d parameters already, and can't have more", MAX_PARAMETERS);
	*ret_id = id;
	return 0;
}

int policy_set_parameter_update(
	struct store *store, const char *id, const struct policy_set_parameter *parameter, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);

	if (parameter->value)
		seal_text(store, id, parameter->value, &sealed);
	if (db_query(store->db, NULL, err,
		    "update policy_set_parameters set key = $2, sensitive = sensitive or $3, "
		    "value_sealed = case when $4 then $5::bytea else value_sealed end where id = $1",
		    P_TEXT(id), P_TEXT(parameter->key), P_BOOL(parameter->sensitive), P_BOOL(parameter->value != NULL),
		    P_BYTES(buf_str(&sealed), sealed.len)) < 0)
		return key_taken(err);
	return 0;
}

int policy_set_parameter_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from policy_set_parameters where id = $1", P_TEXT(id));
}
