/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/states/state_batch.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/states/state_batch.sql.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_LIMIT = 256 << 20 };

static void arrays_init(struct db_array *arrays, size_t count)
{
	for (size_t i = 0; i < count; i++)
		arrays[i] = (struct db_array)DB_ARRAY_INIT;
}

static void arrays_release(struct db_array *arrays, size_t count)
{
	for (size_t i = 0; i < count; i++)
		db_array_release(&arrays[i]);
}

void state_batch_init(struct state_batch *batch)
{
	arrays_init(batch->rows, STATE_COLUMNS);
	arrays_init(batch->outputs, OUTPUT_COLUMNS);
	arrays_init(batch->current, CURRENT_COLUMNS);
	arrays_init(&batch->filled, 1);
	batch->output_values = (struct db_bytes)DB_BYTES_INIT;
	batch->blobs = (struct blob_batch)BLOB_BATCH_INIT;
	batch->bases = (struct state_base_batch)STATE_BASE_BATCH_INIT;
}

void state_batch_release(struct state_batch *batch)
{
	arrays_release(batch->rows, STATE_COLUMNS);
	arrays_release(batch->outputs, OUTPUT_COLUMNS);
	arrays_release(batch->current, CURRENT_COLUMNS);
	arrays_release(&batch->filled, 1);
	db_bytes_release(&batch->output_values);
	blob_batch_release(&batch->blobs);
	state_base_batch_release(&batch->bases);
}

/* ---- outputs ---- */

/* Deterministic: the same state version and name give the same id. */
static void output_id(const char *state_id, const char *name, char ret_id[ID_SIZE])
{
	_cleanup_(freep) char *text = mem_printf("%s\n%s", state_id, name);
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(text, strlen(text), digest);
	snprintf(ret_id, ID_SIZE, "wsout-%.16s", digest);
}

struct state_output {
	const char *state_id, *name;
	const json_t *object; /* {value, type, sensitive} of the state's file */
};

static int output_add(
	struct state_batch *batch, struct store *store, const struct state_output *output, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(VALUE_LIMIT);
	_cleanup_(freep) char *value = json_text(json_object_get(output->object, "value"));
	_cleanup_(freep) char *type = json_text(json_object_get(output->object, "type"));
	struct db_array *column = batch->outputs;
	char id[ID_SIZE];

	output_id(output->state_id, output->name, id);
	seal_text(store, id, value, &sealed);
	if (db_bytes_add(&batch->output_values, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "the state's outputs are too large");
	db_array_add(column++, id);
	db_array_add(column++, output->state_id);
	db_array_add(column++, output->name);
	db_array_add_bool(column++, json_bool_at(output->object, "sensitive", false));
	db_array_add(column++, output_type_word(json_object_get(output->object, "type")));
	/* jsonb can't contain zero characters. No type of terraform has one. */
	db_array_add(column++, strstr(type, "\\u0000") ? "null" : type);
	return 0;
}

static int outputs_add(struct state_batch *batch, struct store *store, const struct state_row *row, struct err *err)
{
	const char *name;
	json_t *object;

	json_object_foreach((json_t *)row->facts->outputs, name, object)
	{
		const struct state_output output = {row->id, name, object};

		if (output_add(batch, store, &output, err) < 0)
			return -1;
	}
	return 0;
}

static int outputs_insert(struct state_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->outputs;

	if (!c->count)
		return 0;
	return db_queue(store->db, err, state_outputs_insert, .ids = &c[0], .state_ids = &c[1], .names = &c[2],
		.sensitive = &c[3], .types = &c[4], .detailed_types = &c[5], .values = &batch->output_values);
}

/* ---- rows ---- */

/* The order is that of the statement's parameters. */
static void row_add(struct state_batch *batch, const struct state_row *row, const char *blob_id, const char *resources)
{
	struct db_array *column = batch->rows;

	db_array_add(column++, row->id);
	db_array_add_int(column++, row->serial);
	db_array_add(column++, row->lineage);
	db_array_add(column++, row->md5);
	db_array_add_int(column++, (long long)row->len);
	db_array_add(column++, row->status);
	db_array_add_bool(column++, row->intermediate);
	db_array_add_bool(column++, row->recovered);
	db_array_add(column++, row->facts->terraform_version);
	db_array_add(column++, resources);
	db_array_add(column++, blob_id);
	db_array_add(column++, row->rollback_id);
	db_array_add(column++, row->workspace_id);
	db_array_add(column++, row->run_id);
	db_array_add(column++, row->job_id);
	db_array_add(column++, row->created_by);
	db_array_add(column++, row->created_at);
}

static int content_add(struct state_batch *batch, struct store *store, const struct state_row *row, struct id *ret_blob,
	struct err *err)
{
	const struct bytes content = {row->bytes, row->len};

	if (!row->base)
		return blob_add(&batch->blobs, store, content, ret_blob, err);
	if (state_base_blob_add(&batch->blobs, store, content, ret_blob, err) < 0)
		return -1;
	state_base_add(&batch->bases, row->id, ret_blob->text, content);
	return 0;
}

int state_add(struct state_batch *batch, struct store *store, const struct state_row *row, struct err *err)
{
	json_auto_t *resources = state_resources(row->facts);
	_cleanup_(freep) char *text = json_text(resources);
	struct id blob;

	if (content_add(batch, store, row, &blob, err) < 0 || outputs_add(batch, store, row, err) < 0)
		return -1;
	row_add(batch, row, blob.text, text);
	if (row->fills)
		db_array_add(&batch->filled, row->id);
	if (!row->current)
		return 0;
	db_array_add(&batch->current[0], row->workspace_id);
	db_array_add(&batch->current[1], row->id);
	db_array_add_int(&batch->current[2], state_managed_count(resources));
	return 0;
}

static int rows_insert(struct state_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->rows;

	return db_queue(store->db, err, state_versions_insert, .ids = &c[0], .serials = &c[1], .lineages = &c[2],
		.md5s = &c[3], .sizes = &c[4], .statuses = &c[5], .intermediate = &c[6], .recovered = &c[7],
		.terraform_versions = &c[8], .resources = &c[9], .blob_ids = &c[10], .rollback_ids = &c[11],
		.workspace_ids = &c[12], .run_ids = &c[13], .job_ids = &c[14], .creators = &c[15], .times = &c[16]);
}

static int current_set(struct state_batch *batch, struct store *store, struct err *err)
{
	struct db_array *c = batch->current;

	if (!c->count)
		return 0;
	return db_queue(store->db, err, workspace_states_set, .workspace_ids = &c[0], .state_ids = &c[1],
		.resource_counts = &c[2]);
}

int states_insert(struct state_batch *batch, struct store *store, struct err *err)
{
	if (!batch->rows[0].count)
		return state_bases_insert(&batch->bases, store, err);
	if (blobs_insert(&batch->blobs, store, err) < 0 || rows_insert(batch, store, err) < 0)
		return -1;
	if (batch->filled.count && db_queue(store->db, err, state_outputs_delete, .state_ids = &batch->filled) < 0)
		return -1;
	if (outputs_insert(batch, store, err) < 0 || state_bases_insert(&batch->bases, store, err) < 0)
		return -1;
	return current_set(batch, store, err);
}
