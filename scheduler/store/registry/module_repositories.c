/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/module_repositories.h"

#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/registry/modules.sql.h"
#include "scheduler/store/registry/test_beds.h"
#include "scheduler/store/vcs/events/refs.h"

struct connection {
	struct store *store;
	const struct module_address *address;
	const struct vcs_use *use;
	const char *version;
	struct id id;
};

static int version_request(const struct connection *c, const char *repository_id, struct err *err)
{
	const struct module_version_wish wish = {.draft = {.module_id = c->id.text, .version = c->version},
		.repository_id = repository_id,
		.provider = c->use->source.provider};
	struct id version;

	return module_version_request(c->store, &wish, &version, err);
}

static int connect_in(void *data, struct err *err)
{
	struct connection *c = data;
	struct id repository;

	if (vcs_repository_of_use(c->store, c->use, &repository, err) < 0 ||
		registry_module_create(c->store, c->address, &c->id, err) < 0 ||
		db_query(c->store->db, NULL, err, registry_module_connect, .id = c->id.text,
			.repository_id = repository.text, .branch = c->use->branch,
			.source_directory = c->use->source_directory, .tag_prefix = c->use->tag_prefix) < 0)
		return -1;
	return *c->use->branch ? version_request(c, repository.text, err)
			       : vcs_look_now(c->store, repository.text, err);
}

int registry_module_create_connected(struct store *store, const struct module_address *address,
	const struct vcs_use *use, const char *version, struct id *ret_id, struct err *err)
{
	struct connection c = {.store = store, .address = address, .use = use, .version = version};

	if (db_transaction(store->db, connect_in, &c, err) < 0)
		return -1;
	*ret_id = c.id;
	return 0;
}

int registry_module_set_source(struct store *store, const char *id, const struct vcs_use *use, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, registry_module_set_source, .id = id, .branch = use->branch,
		    .source_directory = use->source_directory, .tag_prefix = use->tag_prefix) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (test_bed_follow(store, id, err) < 0)
		return -1;
	return vcs_look_now(store, row_of(registry_module_set_source, &rows, 0)->repository_id, err);
}
