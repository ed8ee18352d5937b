/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/lifecycle/state_order.h"
#include "scheduler/store/run_events.h"
#include "scheduler/store/state_parse.h"
#include "scheduler/store/viewer.h"

enum { VALUE_LIMIT = 256 << 20 };

#define COLUMNS                                                                                                        \
	"s.id, s.workspace_id, s.run_id, s.job_id, s.serial, s.lineage, s.md5, s.size, s.status, s.intermediate, "     \
	"s.recovered, s.terraform_version, s.resources, s.blob_id, s.json_blob_id, s.rollback_id, s.created_by, "      \
	"s.created_at, "                                                                                               \
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
	struct id pending, own, own_beside; /* rows that there are, for this content to fill; "": none */
	bool known;                         /* the row has this content already */
	const char *beside;                 /* why it is kept beside; NULL: it becomes the current one */
};

/* ---- what may follow what ---- */

/* Why a state that came from a worker is kept beside. */
static const char *const beside_reasons[] = {
	[STATE_OTHER_LINEAGE] = "it has another lineage than the workspace's state",
	[STATE_BEHIND] = "its serial is behind that of the workspace's state",
	[STATE_OVERTAKEN] = "the workspace's state was written by somebody else after the apply had begun",
	[STATE_MEETS_OTHERS] = "another apply is underway in the workspace, or somebody has locked it",
};

/* A worker's state is never turned away: what can't be the current one is kept beside. A client that can't have its
 * own as the current one is told. */
static int order_settle(struct acceptance *a, enum state_order order, const struct state_mark *there, struct err *err)
{
	a->known = order == STATE_KNOWN;
	if (a->offer->force || a->known || order == STATE_FOLLOWS)
		return 0;
	if (a->offer->job_id) {
		a->beside = beside_reasons[order];
		return 0;
	}
	if (order == STATE_OTHER_LINEAGE)
		return err_set(
			err, ERR_CONFLICT, "the state has another lineage than the workspace's (%s)", there->lineage);
	return err_set(err, ERR_CONFLICT, "the state's serial %lld is behind the workspace's (%lld)", a->serial,
		there->serial);
}

/* What happened since the attempt began; and whether this state came before, and perhaps is not the current one any
 * more. */
static int since_read(struct acceptance *a, struct state_since *ret_since, bool *ret_came, struct err *err)
{
	const struct state_offer *offer = a->offer;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(a->store->db, &rows, err,
		    "select w.current_state_id is distinct from o.base_state_id and s.job_id is distinct from $2 as "
		    "overtaken, w.locked_by is not null or exists (select 1 from jobs where run_id = w.current_run_id "
		    "and "
		    "stage = 'apply' and state = 'claimed' and run_id <> $3) as others_work, "
		    "exists (select 1 from state_versions where job_id = $2 and status <> 'kept_beside' and serial = "
		    "$4 and md5 = $5) as came from workspaces w left join state_versions s on s.id = "
		    "w.current_state_id join operations o on o.id = 'plan' || substr($3, 4) where w.id = $1",
		    P_TEXT(offer->workspace_id), P_TEXT(offer->job_id), P_TEXT(offer->run_id), P_INT(a->serial),
		    P_TEXT(a->md5)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	ret_since->overtaken = row_bool(&rows, 0, "overtaken");
	ret_since->others_work = row_bool(&rows, 0, "others_work");
	*ret_came = row_bool(&rows, 0, "came");
	return 0;
}

static int order_find(
	struct acceptance *a, const struct state_mark *there, enum state_order *ret_order, struct err *err)
{
	const struct state_mark next = {a->serial, a->lineage, a->md5, a->offer->job_id};
	struct state_since since;
	bool came = false;

	if (!a->offer->late) {
		*ret_order = there ? state_order(there, &next) : STATE_FOLLOWS;
		return 0;
	}
	if (since_read(a, &since, &came, err) < 0)
		return -1;
	*ret_order = came ? STATE_KNOWN : state_order_late(there, &next, &since);
	return 0;
}

/* Locks the workspace: two states never decide against the same current one. */
static int follow_check(struct acceptance *a, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct state_mark there = {.serial = 0};
	enum state_order order;

	if (db_queue(a->store->db, err, "select id from workspaces where id = $1 for update",
		    P_TEXT(a->offer->workspace_id)) < 0 ||
		db_query(a->store->db, &rows, err,
			"select s.id, s.serial, s.lineage, s.md5, s.job_id, "
			"(select id from state_versions where id = $3) as pending, "
			"(select id from state_versions where job_id = $2 and status <> 'kept_beside') as own, "
			"(select id from state_versions where job_id = $2 and status = 'kept_beside') as own_beside "
			"from workspaces w left join state_versions s on s.id = w.current_state_id where w.id = $1",
			P_TEXT(a->offer->workspace_id), P_TEXT(a->offer->job_id), P_TEXT(a->offer->pending_id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	text_copy(a->pending.text, ID_SIZE, row_text(&rows, 0, "pending"));
	text_copy(a->own.text, ID_SIZE, row_text(&rows, 0, "own"));
	text_copy(a->own_beside.text, ID_SIZE, row_text(&rows, 0, "own_beside"));
	text_copy(a->id.text, ID_SIZE, row_text(&rows, 0, "id"));
	if (a->id.text[0])
		there = (struct state_mark){row_int(&rows, 0, "serial"), row_text(&rows, 0, "lineage"),
			row_text(&rows, 0, "md5"), row_text(&rows, 0, "job_id")};
	if (order_find(a, a->id.text[0] ? &there : NULL, &order, err) < 0)
		return -1;
	return order_settle(a, order, &there, err);
}

/* ---- writing ---- */

/* Once an apply: what follows takes the place of the one before. */
static int beside_told(const struct acceptance *a, struct err *err)
{
	_cleanup_(freep) char *text =
		mem_printf("A state of the apply was kept beside the workspace's (%s): %s.", a->id.text, a->beside);

	return run_event_describe(a->store, a->offer->run_id, "state-kept-beside", text, err);
}

/* A pending row is filled in by its id, a job's by the job's: one of its own, one beside. */
static const struct id *row_to_fill(const struct acceptance *a)
{
	if (a->pending.text[0])
		return &a->pending;
	return a->beside ? &a->own_beside : &a->own;
}

static const char fill_sql[] =
	"update state_versions set serial = $2, lineage = $3, md5 = $4, size = $5, status = $6, intermediate = $7, "
	"recovered = $8, terraform_version = $9, resources = $10::jsonb, blob_id = $11, rollback_id = $12, "
	"created_at = now() where id = $1";
static const char add_sql[] =
	"insert into state_versions (id, serial, lineage, md5, size, status, intermediate, recovered, "
	"terraform_version, resources, blob_id, rollback_id, workspace_id, run_id, job_id, created_by) "
	"values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $11, $12, $13, $14, $15, $16)";

static int row_write(struct acceptance *a, const char *blob_id, struct err *err)
{
	const struct state_offer *offer = a->offer;
	const struct id *there = row_to_fill(a);
	json_auto_t *resources = state_resources(&a->facts);
	_cleanup_(freep) char *resources_text = json_text(resources);
	bool fills = there->text[0];
	/* The last four are those of a row that is added. */
	struct db_param columns[] = {{.kind = DB_NULL}, P_TEXT(a->id.text), P_INT(a->serial), P_TEXT(a->lineage),
		P_TEXT(a->md5), P_INT((long long)offer->len), P_TEXT(a->beside ? "kept_beside" : "finalized"),
		P_BOOL(offer->intermediate), P_BOOL(offer->late), P_TEXT(a->facts.terraform_version),
		P_TEXT(resources_text), P_TEXT(blob_id), P_TEXT(offer->rollback_id), P_TEXT(offer->workspace_id),
		P_TEXT(offer->run_id), P_TEXT(offer->job_id), P_TEXT(offer->created_by)};

	a->id = fills ? *there : id_new("sv");
	if (db_put(a->store->db, NULL, err, fills ? fill_sql : add_sql, columns, ARRAY_LEN(columns) - (fills ? 4 : 0)) <
		0)
		return -1;
	if (fills &&
		db_queue(a->store->db, err, "delete from state_version_outputs where state_version_id = $1",
			P_TEXT(a->id.text)) < 0)
		return -1;
	if (a->beside)
		return fills ? 0 : beside_told(a, err);
	return db_queue(a->store->db, err,
		"update workspaces set current_state_id = $2, resource_count = $3, latest_change_at = now() where id = "
		"$1",
		P_TEXT(offer->workspace_id), P_TEXT(a->id.text), P_INT(state_managed_count(resources)));
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
	_cleanup_(freep) char *type = json_text(json_object_get(output, "type"));
	/* jsonb holds no zero characters; no type of terraform's does either. */
	const char *detailed = strstr(type, "\\u0000") ? "null" : type;
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
	return db_queue(a->store->db, err,
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

/* model: state */
static int accept_in(void *data, struct err *err)
{
	struct acceptance *a = data;
	struct id blob;

	if (follow_check(a, err) < 0)
		return -1;
	if (a->known)
		return 0;
	if (blob_put(a->store, a->offer->bytes, a->offer->len, &blob, err) < 0 || row_write(a, blob.text, err) < 0)
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
		*ret_accepted = (struct state_accepted){a.id, a.serial, a.beside};
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

/* What could not be accepted is refused before its content comes: the client then has words to show. */
static int announce_check(const struct announcement *a, struct err *err)
{
	const struct state_label *label = a->offer->label;
	struct acceptance check = {.store = a->store,
		.offer = a->offer,
		.serial = label->serial,
		.lineage = text_or_empty(label->lineage)};

	text_copy(check.md5, sizeof(check.md5), label->md5);
	return follow_check(&check, err);
}

static int announce_in(void *data, struct err *err)
{
	struct announcement *a = data;
	const struct state_offer *offer = a->offer;

	a->id = id_new("sv");
	if (announce_check(a, err) < 0 ||
		db_query(a->store->db, NULL, err,
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

/* ---- its JSON form ---- */

struct json_form {
	struct store *store;
	const char *id;
	const void *bytes;
	size_t len;
};

static int json_put_in(void *data, struct err *err)
{
	const struct json_form *form = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id blob;

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

int states_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS "from state_versions s join workspaces v on v.id = s.workspace_id "
		"where s.id = any($1::text[]) and " VIEWER_HAS(
			"$2", RIGHTS_IN_WORKSPACE("$2", "v.organization_id", "v.id"), "128"),
		P_ARRAY(ids), P_TEXT(viewer_user(store->viewer)));
}

int state_recovered(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select s.id from state_versions s join runs r on r.id = s.run_id where r.id = $1 and "
		    "(s.recovered and s.status = 'finalized' or s.status = 'kept_beside') and r.status = 'errored' "
		    "order by s.created_at desc limit 1",
		    P_TEXT(run_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "the apply left no state behind");
}

int states_list(struct store *store, const struct state_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.total, f.* from (select count(*) as total from state_versions where workspace_id = $1 "
		"and case when $2::text is null then status <> 'kept_beside' else status = $2 end) t left join "
		"(select " COLUMNS "from state_versions s where s.workspace_id = $1 "
		"and case when $2::text is null then s.status <> 'kept_beside' else s.status = $2 end order by "
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
		"join workspaces v on v.id = s.workspace_id where o.state_version_id = any($1::text[]) and " VIEWER_HAS(
			"$2", RIGHTS_IN_WORKSPACE("$2", "v.organization_id", "v.id"), "64") "order by o.name",
		P_ARRAY(state_ids), P_TEXT(viewer_user(store->viewer)));
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
