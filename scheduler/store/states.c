/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/state_parse.h"

enum { VALUE_LIMIT = 256 << 20 };

#define COLUMNS                                                                                                        \
	"s.id, s.workspace_id, s.run_id, s.job_id, s.serial, s.lineage, s.md5, s.size, s.status, s.intermediate, "     \
	"s.recovered, s.terraform_version, s.resources, s.blob_id, s.created_by, s.created_at, "                       \
	"(select coalesce(jsonb_agg(o.id order by o.name), '[]') from state_version_outputs o "                        \
	"where o.state_version_id = s.id) as output_ids "

struct acceptance {
	struct store *store;
	const struct state_offer *offer;
	struct state_facts facts;
	long long serial;
	const char *lineage;
	char md5[33];
	struct id id;
	bool known; /* the row has this content already */
};

/* ---- what may follow what ---- */

static int serial_check(const struct acceptance *a, const struct rows *current, struct err *err)
{
	long long serial = row_int(current, 0, "serial");
	const char *job = a->offer->job_id;
	bool same_writer = job && text_equal(job, row_text(current, 0, "job_id"));
	bool same_content = text_equal(a->md5, row_text(current, 0, "md5"));

	if (!text_equal(a->lineage, row_text(current, 0, "lineage")))
		return err_set(err, ERR_CONFLICT, "the state has another lineage than the workspace's (%s)",
			row_text(current, 0, "lineage"));
	if (a->serial < serial || (a->serial == serial && !same_writer && !same_content))
		return err_set(err, ERR_CONFLICT, "the state's serial %lld is behind the workspace's (%lld)", a->serial,
			serial);
	return 0;
}

/* Locks the workspace: two states never decide against the same current one. */
static int follow_check(struct acceptance *a, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(a->store->db, &rows, err, "select id from workspaces where id = $1 for update",
		    P_TEXT(a->offer->workspace_id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	rows_release(&rows);
	if (db_query(a->store->db, &rows, err,
		    "select s.id, s.serial, s.lineage, s.md5, s.job_id from workspaces w "
		    "join state_versions s on s.id = w.current_state_id where w.id = $1",
		    P_TEXT(a->offer->workspace_id)) < 0)
		return -1;
	if (!rows.count)
		return 0;
	a->known = a->offer->job_id && text_equal(a->offer->job_id, row_text(&rows, 0, "job_id")) &&
		a->serial == row_int(&rows, 0, "serial") && text_equal(a->md5, row_text(&rows, 0, "md5"));
	text_copy(a->id.text, sizeof(a->id.text), row_text(&rows, 0, "id"));
	return a->offer->force ? 0 : serial_check(a, &rows, err);
}

/* ---- writing ---- */

/* The job's earlier state goes; its blob is nobody else's. */
static int blob_replace(struct acceptance *a, struct id *ret_blob, struct err *err)
{
	const struct state_offer *offer = a->offer;

	if (offer->job_id &&
		db_query(a->store->db, NULL, err,
			"with old as (select blob_id from state_versions where job_id = $1), "
			"gone as (update state_versions set blob_id = null where job_id = $1) "
			"delete from blobs where id in (select blob_id from old)",
			P_TEXT(offer->job_id)) < 0)
		return -1;
	return blob_put(a->store, offer->bytes, offer->len, ret_blob, err);
}

static int row_write(struct acceptance *a, const char *blob_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_offer *offer = a->offer;
	json_auto_t *resources = state_resources(&a->facts);
	_cleanup_(freep) char *resources_text = json_text(resources);
	struct id fresh = id_new("sv");

	/* A pending row is filled in by its id, a job's by the job's. */
	if (db_query(a->store->db, &rows, err,
		    "with filled as (update state_versions set serial = $5, lineage = $6, md5 = $7, size = $8, "
		    "status = 'finalized', intermediate = $9, recovered = $10, terraform_version = $11, "
		    "resources = $12::jsonb, blob_id = $13, created_at = now() "
		    "where id = $15 or job_id = $4 returning id), "
		    "added as (insert into state_versions (id, workspace_id, run_id, job_id, serial, lineage, md5, "
		    "size, "
		    "intermediate, recovered, terraform_version, resources, blob_id, created_by) "
		    "select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::jsonb, $13, $14 "
		    "where not exists (select 1 from filled) returning id) "
		    "select id from filled union all select id from added",
		    P_TEXT(fresh.text), P_TEXT(offer->workspace_id), P_TEXT(offer->run_id), P_TEXT(offer->job_id),
		    P_INT(a->serial), P_TEXT(a->lineage), P_TEXT(a->md5), P_INT((long long)offer->len),
		    P_BOOL(offer->intermediate), P_BOOL(offer->recovered), P_TEXT(a->facts.terraform_version),
		    P_TEXT(resources_text), P_TEXT(blob_id), P_TEXT(offer->created_by), P_TEXT(offer->pending_id)) < 0)
		return -1;
	text_copy(a->id.text, sizeof(a->id.text), row_text(&rows, 0, "id"));
	return db_query(a->store->db, NULL, err,
		"update workspaces set current_state_id = $2 where id = $1 and current_state_id is distinct from $2",
		P_TEXT(offer->workspace_id), P_TEXT(a->id.text));
}

/* ---- outputs ---- */

/* The same for the same state version and name, whenever it is asked. */
static void output_id(const char *state_id, const char *name, char ret_id[ID_SIZE])
{
	_cleanup_(freep) char *text = mem_printf("%s\n%s", state_id, name);
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(text, strlen(text), digest);
	snprintf(ret_id, ID_SIZE, "wsout-%.16s", digest);
}

struct output_columns {
	struct db_array id, name, sensitive, type, detailed, value;
};

static void bytes_hex(struct buf *out, const struct buf *bytes)
{
	static const char digits[] = "0123456789abcdef";

	buf_text(out, "\\x");
	for (size_t i = 0; i < bytes->len; i++) {
		unsigned char byte = (unsigned char)bytes->data[i];
		char pair[2] = {digits[byte >> 4], digits[byte & 15]};

		buf_append(out, pair, 2);
	}
}

static void output_add(struct acceptance *a, struct output_columns *columns, const char *name, const json_t *output)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(VALUE_LIMIT);
	_cleanup_(buf_release) struct buf hex = BUF_INIT(2 * (size_t)VALUE_LIMIT);
	_cleanup_(freep) char *value = json_text(json_object_get(output, "value"));
	_cleanup_(freep) char *detailed = json_text(json_object_get(output, "type"));
	char id[ID_SIZE];

	output_id(a->id.text, name, id);
	store_seal(a->store, id, value, &sealed);
	bytes_hex(&hex, &sealed);
	db_array_add(&columns->id, id);
	db_array_add(&columns->name, name);
	db_array_add_bool(&columns->sensitive, json_bool_at(output, "sensitive", false));
	db_array_add(&columns->type, output_type_word(json_object_get(output, "type")));
	db_array_add(&columns->detailed, detailed);
	db_array_add(&columns->value, buf_str(&hex));
}

static int outputs_insert(struct acceptance *a, struct output_columns *c, struct err *err)
{
	return db_query(a->store->db, NULL, err,
		"insert into state_version_outputs "
		"(id, state_version_id, name, sensitive, type, detailed_type, value_sealed) "
		"select u.id, $1, u.name, u.sensitive, u.type, u.detailed::jsonb, u.value::bytea from "
		"unnest($2::text[], "
		"$3::text[], $4::boolean[], $5::text[], $6::text[], $7::text[]) "
		"as u(id, name, sensitive, type, detailed, value)",
		P_TEXT(a->id.text), P_ARRAY(&c->id), P_ARRAY(&c->name), P_ARRAY(&c->sensitive), P_ARRAY(&c->type),
		P_ARRAY(&c->detailed), P_ARRAY(&c->value));
}

static int outputs_write(struct acceptance *a, struct err *err)
{
	struct output_columns columns;
	struct db_array *arrays = &columns.id;
	const char *name;
	json_t *output;
	int result;

	if (db_query(a->store->db, NULL, err, "delete from state_version_outputs where state_version_id = $1",
		    P_TEXT(a->id.text)) < 0)
		return -1;
	if (!json_object_size(a->facts.outputs))
		return 0;
	columns = (struct output_columns){
		DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT};
	json_object_foreach((json_t *)a->facts.outputs, name, output) output_add(a, &columns, name, output);
	result = outputs_insert(a, &columns, err);
	for (size_t i = 0; i < sizeof(columns) / sizeof(*arrays); i++)
		db_array_release(&arrays[i]);
	return result;
}

/* ---- accepting ---- */

static int accept_in(void *data, struct err *err)
{
	struct acceptance *a = data;
	struct id blob;

	if (follow_check(a, err) < 0)
		return -1;
	if (a->known)
		return 0;
	if (blob_replace(a, &blob, err) < 0 || row_write(a, blob.text, err) < 0)
		return -1;
	return outputs_write(a, err);
}

static int label_apply(struct acceptance *a, struct err *err)
{
	const struct state_label *label = a->offer->label;

	a->serial = label ? label->serial : a->facts.serial;
	a->lineage = label && label->lineage ? label->lineage : a->facts.lineage;
	crypto_md5_hex(a->offer->bytes, a->offer->len, a->md5);
	if (label && label->md5 && strcasecmp(label->md5, a->md5) != 0)
		return err_at(err, "/data/attributes/md5", "Md5 is not that of the state's content");
	return 0;
}

int state_accept(
	struct store *store, const struct state_offer *offer, struct state_accepted *ret_accepted, struct err *err)
{
	struct acceptance a = {.store = store, .offer = offer};
	int result;

	if (state_parse(offer->bytes, offer->len, &a.facts, err) < 0)
		return -1;
	result = label_apply(&a, err);
	if (result == 0)
		result = db_transaction(store->db, accept_in, &a, err);
	state_facts_release(&a.facts);
	if (result == 0 && ret_accepted)
		*ret_accepted = (struct state_accepted){a.id, a.serial};
	return result;
}

int state_current(struct store *store, const char *workspace_id, struct buf *out, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select s.blob_id from workspaces w join state_versions s on s.id = w.current_state_id "
		    "where w.id = $1",
		    P_TEXT(workspace_id)) < 0)
		return -1;
	return rows.count ? blob_get(store, row_text(&rows, 0, "blob_id"), out, err) : 0;
}

/* ---- announcing ---- */

struct announcement {
	struct store *store;
	const struct state_offer *offer;
	struct id id;
};

static int announce_in(void *data, struct err *err)
{
	struct announcement *a = data;
	const struct state_offer *offer = a->offer;

	a->id = id_new("sv");
	if (db_query(a->store->db, NULL, err,
		    "update state_versions set status = 'discarded' where workspace_id = $1 and status = 'pending'",
		    P_TEXT(offer->workspace_id)) < 0)
		return -1;
	return db_query(a->store->db, NULL, err,
		"insert into state_versions (id, workspace_id, run_id, serial, lineage, md5, size, status, created_by) "
		"values ($1, $2, $3, $4, $5, $6, 0, 'pending', $7)",
		P_TEXT(a->id.text), P_TEXT(offer->workspace_id), P_TEXT(offer->run_id), P_INT(offer->label->serial),
		P_TEXT(text_or_empty(offer->label->lineage)), P_TEXT(offer->label->md5), P_TEXT(offer->created_by));
}

int state_announce(struct store *store, const struct state_offer *offer, struct id *ret_id, struct err *err)
{
	struct announcement a = {.store = store, .offer = offer};

	if (db_transaction(store->db, announce_in, &a, err) < 0)
		return -1;
	*ret_id = a.id;
	return 0;
}

/* ---- reading ---- */

int state_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from state_versions s where s.id = $1", P_TEXT(id)) <
		0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "state version not found");
}

int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.total, f.* from (select count(*) as total from state_versions where workspace_id = $1 "
		"and ($2::text is null or status = $2)) t left join "
		"(select " COLUMNS "from state_versions s where s.workspace_id = $1 "
		"and ($2::text is null or s.status = $2) order by s.created_at desc, s.serial desc limit $3 offset $4) "
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

	if (store_open(store, row_text(rows, row, "id"), rows, row, "value_sealed", &text, err) < 0)
		return -1;
	value = json_loadb(buf_str(&text), text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	*ret_value = value ? value : json_null();
	return 0;
}
