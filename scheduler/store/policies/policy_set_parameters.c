/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_set_parameters.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/policies/policy_set_parameters.sql.h"

enum { MAX_PARAMETERS = 1000, SEALED_LIMIT = 1 << 20 };

static int key_taken(struct err *err)
{
	return err->kind == ERR_CONFLICT ? err_at(err, "/data/attributes/key", "Key has already been taken") : -1;
}

int policy_set_parameters_list(
	struct store *store, const char *policy_set_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, policy_set_parameters_list, .policy_set_id = policy_set_id,
		.limit = range.limit, .offset = range.offset);
}

int policy_set_parameter_read(
	struct store *store, const char *policy_set_id, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, policy_set_parameter_read, .policy_set_id = policy_set_id, .id = id) < 0)
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
	if (db_query(store->db, &rows, err, policy_set_parameter_create, .id = id.text, .policy_set_id = policy_set_id,
		    .key = parameter->key, .value_sealed = db_blob(sealed.data, sealed.len),
		    .sensitive = parameter->sensitive, .max = MAX_PARAMETERS) < 0)
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
	if (db_query(store->db, NULL, err, policy_set_parameter_update, .id = id, .key = parameter->key,
		    .sensitive = parameter->sensitive, .sets_value = parameter->value != NULL,
		    .value_sealed = db_blob(buf_str(&sealed), sealed.len)) < 0)
		return key_taken(err);
	return 0;
}

int policy_set_parameter_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, policy_set_parameter_delete, .id = id);
}
