/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/site_organizations.h"

#include "scheduler/store/access/site_organizations.sql.h"

int site_organizations_list(
	struct store *store, const struct site_organizations *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, site_organizations_list, .search = list->search,
		.module_consumers_of = list->module_consumers_of, .limit = list->limit, .offset = list->offset);
}

int site_organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, site_organization_read, .name = name) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "organization not found");
}

int site_organization_update(struct store *store, const char *id, const json_t *settings, struct err *err)
{
	_cleanup_(freep) char *text = json_text(settings);

	return db_query(store->db, NULL, err, site_organization_update, .id = id, .settings = text);
}

struct sharing {
	struct store *store;
	const char *id;
	const json_t *names;
};

static int replace_in(void *data, struct err *err)
{
	const struct sharing *s = data;
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	db_array_add_texts(&names, s->names);
	if (db_query(s->store->db, NULL, err, module_consumers_clear, .id = s->id) < 0 ||
		db_query(s->store->db, &rows, err, module_consumers_add, .id = s->id, .names = &names) < 0)
		return -1;
	if (rows.count)
		return err_at(err, "/data", "Organization %s not found", row_of(module_consumers_add, &rows, 0)->name);
	return 0;
}

int module_consumers_replace(struct store *store, const char *id, const json_t *names, struct err *err)
{
	struct sharing s = {store, id, names};

	return db_transaction(store->db, replace_in, &s, err);
}
