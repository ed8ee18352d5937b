/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/modules.h"

#include <string.h>

#include "scheduler/store/names.h"
#include "scheduler/store/registry/modules.sql.h"

#define DIGITS  "0123456789"
#define LOWER   "abcdefghijklmnopqrstuvwxyz" DIGITS
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ" LOWER

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "registry module not found");
}

/* Letters and digits, and hyphens and underscores between them. */
static int part_check(const char *what, const char *pointer, const char *text, struct err *err)
{
	size_t len = strlen(text_or_empty(text));

	if (!len)
		return err_at(err, pointer, "%s can't be blank", what);
	if (len > MAX_MODULE_NAME)
		return err_at(err, pointer, "%s is too long (maximum is %d characters)", what, MAX_MODULE_NAME);
	if (text[strspn(text, LETTERS "-_")] || !strchr(LETTERS, text[0]) || !strchr(LETTERS, text[len - 1]))
		return err_at(err, pointer,
			"%s may only contain letters, numbers, and hyphens and underscores between them", what);
	return 0;
}

static int address_check(const struct module_address *address, struct err *err)
{
	static const char pointer[] = "/data/attributes/provider";

	if (part_check("Name", "/data/attributes/name", address->name, err) < 0 ||
		part_check("Provider", pointer, address->provider, err) < 0)
		return -1;
	if (address->provider[strspn(address->provider, LOWER)])
		return err_at(err, pointer, "Provider may only contain lowercase letters and numbers");
	if (text_equal(address->registry_name, REGISTRY_PRIVATE))
		return 0;
	return part_check("Namespace", "/data/attributes/namespace", address->namespace, err);
}

int registry_module_create(
	struct store *store, const struct module_address *address, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("mod");

	if (address_check(address, err) < 0)
		return -1;
	if (db_query(store->db, &rows, err, registry_module_create, .id = id.text,
		    .organization_id = address->organization_id, .registry_name = address->registry_name,
		    .namespace = address->namespace, .name = address->name, .provider = address->provider,
		    .max = MAX_REGISTRY_MODULES) < 0)
		return name_taken(store, "registry_modules_address", err);
	if (!rows.count)
		return err_at(err, "/data", "An organization can't have more than %d modules", MAX_REGISTRY_MODULES);
	*ret_id = id;
	return 0;
}

int registry_module_address_free(
	struct store *store, const struct module_address *address, bool *ret_free, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err refused = ERR_INIT;

	*ret_free = false;
	if (address_check(address, &refused) < 0)
		return 0;
	if (db_query(store->db, &rows, err, registry_module_taken, .organization_id = address->organization_id,
		    .registry_name = address->registry_name, .namespace = address->namespace, .name = address->name,
		    .provider = address->provider) < 0)
		return -1;
	*ret_free = !rows.count;
	return 0;
}

int registry_module_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, registry_module_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int registry_module_find(
	struct store *store, const struct module_address *address, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, registry_module_find, .organization_id = address->organization_id,
		    .registry_name = address->registry_name, .namespace = address->namespace, .name = address->name,
		    .provider = address->provider) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int registry_modules_list(struct store *store, const struct module_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, registry_modules_list, .organization_id = list->organization_id,
		.search = list->search, .registry_name = list->registry_name, .owner = list->owner, .name = list->name,
		.provider = list->provider, .tag_keys = db_array_or_null(list->tag_keys),
		.tag_values = db_array_or_null(list->tag_values), .limit = list->range.limit,
		.offset = list->range.offset);
}

int module_consumers_among(
	struct store *store, const char *organization_id, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_query(
		store->db, ret_rows, err, module_consumers_among, .organization_id = organization_id, .ids = ids);
}

int registry_modules_delete(struct store *store, const struct module_address *address, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, registry_modules_delete, .organization_id = address->organization_id,
		    .registry_name = address->registry_name, .namespace = address->namespace, .name = address->name,
		    .provider = address->provider) < 0)
		return -1;
	return rows.count ? 0 : not_found(err);
}

int registry_module_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, registry_module_delete, .id = id);
}
