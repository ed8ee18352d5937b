/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/states.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/content/blobs.h"

enum { VALUE_LIMIT = 256 << 20 };

/* ---- the JSON format ---- */

struct json_form {
	struct store *store;
	const char *id;
	const void *bytes;
	size_t len;
};

static int json_put_in(void *data, struct err *err)
{
	const struct json_form *form = data;
	_cleanup_(rows_release) struct rows lock = ROWS_INIT, rows = ROWS_INIT;
	struct id blob;

	if (db_query(form->store->db, &lock, err, state_json_lock, .id = form->id) < 0)
		return -1;
	if (!lock.count)
		return err_set(err, ERR_NOT_FOUND, "state version not found");
	if (!row_of(state_json_lock, &lock, 0)->locked)
		return err_set(err, ERR_CONFLICT, "the workspace must be locked by you to write its state");
	if (blob_put(form->store, form->bytes, form->len, &blob, err) < 0 ||
		db_query(form->store->db, &rows, err, state_json_put, .id = form->id, .blob = blob.text) < 0)
		return -1;
	return db_affected(&rows)
		? 0
		: err_set(err, ERR_CONFLICT, "the state version has its JSON form already, or takes none any more");
}

int state_json_put(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct json_form form = {store, id, bytes, len};
	_cleanup_(json_document_release) struct json_document document = JSON_NO_DOCUMENT;

	if (json_document_parse(&document, bytes, len, err) < 0 && err->kind != ERR_MALFORMED)
		return -1;
	if (!json_is_object(document.value))
		return err_set(err, ERR_INVALID, "the state's JSON form is no JSON object");
	return db_transaction(store->db, json_put_in, &form, err);
}

/* ---- reading ---- */

int state_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, state_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "state version not found");
}

int state_read_current(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, state_read_current, .workspace_id = workspace_id);
}

int states_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, states_read_all, .ids = ids, .user = response_scope_user(store->scope));
}

int state_recovered(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, state_recovered, .run_id = run_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "the apply left no state behind");
}

int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, states_list, .workspace_id = list->workspace_id,
		.status = list->status, .limit = list->limit, .offset = list->offset);
}

int state_outputs(struct store *store, const char *state_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, state_outputs, .state_id = state_id);
}

int state_outputs_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, state_outputs_read_all, .ids = ids);
}

int outputs_of_states(struct store *store, struct db_array *state_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, outputs_of_states, .state_ids = state_ids,
		.user = response_scope_user(store->scope));
}

int state_output_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, state_output_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "state version output not found");
}

int state_output_value(struct store *store, const struct state_output_row *output, json_t **ret_value, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(VALUE_LIMIT);
	json_t *value;

	if (seal_open(store, output->id, output->value_sealed, &text, err) < 0)
		return -1;
	value = json_loadb(buf_str(&text), text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	*ret_value = value ? value : json_null();
	return 0;
}
