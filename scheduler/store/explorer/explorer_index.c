/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/explorer/explorer_index.h"

#include "common/log.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/content/contents.h"
#include "scheduler/store/explorer/explorer_facts.h"
#include "scheduler/store/explorer/explorer_index.sql.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/state_parse.h"

/* A larger state is not read: it would delay the rows of all others by seconds. */
enum { STATE_MAX = 64 << 20, PACKAGES_MAX = 4 << 20 };

struct indexing {
	struct store *store;
	const char *workspace_id;
	long long generation;
	const struct explorer_source_row *source;
	struct explorer_facts facts;
};

/* ---- reading ---- */

static int instances_read(struct store *reading, struct indexing *i, json_t **ret_instances, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(STATE_MAX + 1);
	struct state_facts facts;

	if (!i->source->state_id)
		return 0;
	if (i->source->state_size > STATE_MAX) {
		i->facts.is_cut = true;
		return 0;
	}
	if (state_content(reading, i->source->state_id, &bytes, err) < 0 ||
		state_parse(buf_str(&bytes), bytes.len, &facts, err) < 0)
		return -1;
	*ret_instances = state_instances(&facts);
	state_facts_release(&facts);
	return 0;
}

static int packages_read(struct store *reading, const struct indexing *i, json_t **ret_packages, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(PACKAGES_MAX);
	struct err unreadable = ERR_INIT;

	if (!i->source->packages_id)
		return 0;
	if (blob_get(reading, i->source->packages_id, &bytes, err) < 0)
		return -1;
	/* A worker wrote it. One that can't be read counts as none. */
	json_parse(buf_str(&bytes), bytes.len, ret_packages, &unreadable);
	return 0;
}

static int facts_read(struct store *reading, void *data, struct err *err)
{
	json_auto_t *instances = NULL, *packages = NULL;
	struct indexing *i = data;

	if (instances_read(reading, i, &instances, err) < 0 || packages_read(reading, i, &packages, err) < 0)
		return -1;
	explorer_facts_add_resources(&i->facts, instances);
	explorer_facts_add_packages(&i->facts, packages, instances);
	return 0;
}

/* ---- writing ---- */

static int rows_write(void *data, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct indexing *i = data;
	struct explorer_facts *f = &i->facts;
	struct db *db = i->store->db;
	const char *id = i->workspace_id;

	if (db_query(db, &rows, err, explorer_workspace_lock, .workspace_id = id, .generation = i->generation) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (db_queue(db, err, explorer_resources_delete, .workspace_id = id, .addresses = &f->addresses) < 0 ||
		db_queue(db, err, explorer_resources_put, .workspace_id = id,
			.organization_id = i->source->organization_id, .addresses = &f->addresses, .types = &f->types,
			.names = &f->names, .modules = &f->modules, .providers = &f->providers,
			.billable = &f->billable) < 0 ||
		db_queue(db, err, explorer_packages_put, .workspace_id = id, .kinds = &f->kinds, .sources = &f->sources,
			.versions = &f->versions, .names = &f->package_names, .registries = &f->registries) < 0)
		return -1;
	return db_query(db, NULL, err, explorer_workspace_put, .workspace_id = id, .state_id = i->source->state_id,
		.is_cut = f->is_cut);
}

static int workspace_update(struct indexing *i, struct objects *objects, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int result;

	if (db_query(i->store->db, &rows, err, explorer_source, .workspace_id = i->workspace_id) < 0)
		return -1;
	if (!rows.count)
		return 0;
	i->source = row_of(explorer_source, &rows, 0);
	explorer_facts_init(&i->facts);
	result = contents_read(i->store, objects, facts_read, i, NULL, err);
	if (result == 0)
		result = db_transaction(i->store->db, rows_write, i, err);
	explorer_facts_release(&i->facts);
	if (result < 0)
		return -1;
	/* Outside of the transaction: the writer of a state never waits for it. */
	return db_query(i->store->db, NULL, err, explorer_due_done, .workspace_id = i->workspace_id,
		.generation = i->generation);
}

int explorer_index_due(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, explorer_due_take, .max = EXPLORER_INDEX_MAX) < 0)
		return -1;
	*ret_count = rows.count;
	for (int n = 0; n < rows.count; n++) {
		const struct explorer_due_take_row *row = row_of(explorer_due_take, &rows, n);
		struct indexing indexing = {
			.store = store, .workspace_id = row->workspace_id, .generation = row->generation};
		struct err why = ERR_INIT;

		if (workspace_update(&indexing, objects, &why) < 0)
			log_warn("the explorer does not show the workspace's last state: it is tried again",
				"workspace", row->workspace_id, "error", why.message, NULL);
	}
	return 0;
}
