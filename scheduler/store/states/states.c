/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/states.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/content/blobs.h"

enum { VALUE_LIMIT = 256 << 20 };

/* Of the commit that the state's run applied. */
#define OF_COMMIT(column)                                                                                              \
	"(select " column " from run_inputs c join configuration_commits k "                                           \
	"on k.configuration_version_id = c.configuration_version_id where c.run_id = s.run_id)"

#define COLUMNS                                                                                                        \
	"s.id, s.workspace_id, s.run_id, s.job_id, s.serial, s.lineage, s.md5, s.size, s.status, s.intermediate, "     \
	"s.recovered, s.terraform_version, s.resources, s.blob_id, s.json_blob_id, s.rollback_id, s.created_by, "      \
	"s.created_at, " OF_COMMIT("k.sha") " as commit_sha, " OF_COMMIT(                                              \
		"k.detail->>'commit-url'") " as commit_url, "                                                          \
					   "(select coalesce(jsonb_agg(o.id order by o.name), '[]') from "             \
					   "state_version_outputs o "                                                  \
					   "where o.state_version_id = s.id) as output_ids "

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

	if (db_query(form->store->db, &lock, err,
		    "select coalesce(w.locked_by = s.created_by, false) as locked from state_versions s "
		    "join workspaces w on w.id = s.workspace_id where s.id = $1 for no key update of w",
		    P_TEXT(form->id)) < 0)
		return -1;
	if (!lock.count)
		return err_set(err, ERR_NOT_FOUND, "state version not found");
	if (!row_bool(&lock, 0, "locked"))
		return err_set(err, ERR_CONFLICT, "the workspace must be locked by you to write its state");
	if (blob_put(form->store, form->bytes, form->len, &blob, err) < 0 ||
		db_query(form->store->db, &rows, err,
			"update state_versions set json_blob_id = $2 where id = $1 and json_blob_id is null "
			"and status in ('pending', 'finalized')",
			P_TEXT(form->id), P_TEXT(blob.text)) < 0)
		return -1;
	return db_affected(&rows)
		? 0
		: err_set(err, ERR_CONFLICT, "the state version has its JSON form already, or takes none any more");
}

int state_json_put(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct json_form form = {store, id, bytes, len};
	json_auto_t *document = NULL;

	if (json_parse(bytes, len, &document, err) < 0 || !json_is_object(document))
		return err_set(err, ERR_INVALID, "the state's JSON form is no JSON object");
	return db_transaction(store->db, json_put_in, &form, err);
}

/* ---- reading ---- */

int state_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from state_versions s where s.id = $1", P_TEXT(id)) <
		0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "state version not found");
}

int state_read_current(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " COLUMNS
		"from workspaces w join state_versions s on s.id = w.current_state_id where w.id = $1",
		P_TEXT(workspace_id));
}

int states_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS "from state_versions s join workspaces v on v.id = s.workspace_id "
		"where s.id = any($1::text[]) and " SCOPE_HAS(
			"$2", RIGHTS_IN_WORKSPACE("$2", "v.organization_id", "v.id"), "128"),
		P_ARRAY(ids), P_TEXT(response_scope_user(store->scope)));
}

int state_recovered(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select s.id from state_versions s join runs r on r.id = s.run_id where r.id = $1 and "
		    "(s.recovered and s.status = 'finalized' or s.status = 'detached') and r.status = 'errored' "
		    "order by s.created_at desc limit 1",
		    P_TEXT(run_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "the apply left no state behind");
}

int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.total, f.* from (select count(*) as total from state_versions where workspace_id = $1 "
		"and case when $2::text is null then status <> 'detached' else status = $2 end) t left join "
		"(select " COLUMNS "from state_versions s where s.workspace_id = $1 "
		"and case when $2::text is null then s.status <> 'detached' else s.status = $2 end order by "
		"s.created_at desc, s.serial desc limit $3 offset $4) "
		"f "
		"on true order by f.created_at desc, f.serial desc",
		P_TEXT(list->workspace_id), P_TEXT(list->status), P_INT(list->limit), P_INT(list->offset));
}

#define OUTPUT_COLUMNS "o.id, o.state_version_id, o.name, o.sensitive, o.type, o.detailed_type, o.value_sealed "

int state_outputs(struct store *store, const char *state_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " OUTPUT_COLUMNS "from state_version_outputs o where o.state_version_id = $1 order by o.name",
		P_TEXT(state_id));
}

int state_outputs_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " OUTPUT_COLUMNS "from state_version_outputs o where o.id = any($1::text[]) order by o.name",
		P_ARRAY(ids));
}

int outputs_of_states(struct store *store, struct db_array *state_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " OUTPUT_COLUMNS
		"from state_version_outputs o join state_versions s on s.id = o.state_version_id "
		"join workspaces v on v.id = s.workspace_id where o.state_version_id = any($1::text[]) and " SCOPE_HAS(
			"$2", RIGHTS_IN_WORKSPACE("$2", "v.organization_id", "v.id"), "64") "order by o.name",
		P_ARRAY(state_ids), P_TEXT(response_scope_user(store->scope)));
}

int state_output_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " OUTPUT_COLUMNS ", s.workspace_id from state_version_outputs o "
		    "join state_versions s on s.id = o.state_version_id where o.id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "state version output not found");
}

int state_output_value(struct store *store, const struct rows *rows, int row, json_t **ret_value, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(VALUE_LIMIT);
	json_t *value;

	if (seal_open(store, row_text(rows, row, "id"), (struct sealed_column){rows, row, "value_sealed"}, &text, err) <
		0)
		return -1;
	value = json_loadb(buf_str(&text), text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	*ret_value = value ? value : json_null();
	return 0;
}
