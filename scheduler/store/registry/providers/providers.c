/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/providers.h"

#include <string.h>

#include "scheduler/store/names.h"
#include "scheduler/store/registry/providers/providers.sql.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/* Letters and digits, and hyphens and underscores between them. */
static int part_check(const char *what, const char *pointer, const char *text, struct err *err)
{
	size_t len = strlen(text_or_empty(text));

	if (!len)
		return err_at(err, pointer, "%s can't be blank", what);
	if (len > MAX_PROVIDER_NAME)
		return err_at(err, pointer, "%s is too long (maximum is %d characters)", what, MAX_PROVIDER_NAME);
	if (text[strspn(text, LETTERS "-_")] || !strchr(LETTERS, text[0]) || !strchr(LETTERS, text[len - 1]))
		return err_at(err, pointer,
			"%s may only contain letters, numbers, and hyphens and underscores between them", what);
	return 0;
}

int registry_provider_create(
	struct store *store, const struct provider_address *address, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("prov");

	if (part_check("Name", "/data/attributes/name", address->name, err) < 0 ||
		(text_equal(address->registry_name, REGISTRY_PUBLIC) &&
			part_check("Namespace", "/data/attributes/namespace", address->namespace, err) < 0))
		return -1;
	if (db_query(store->db, &rows, err, registry_provider_create, .id = id.text,
		    .organization_id = address->organization_id, .registry_name = address->registry_name,
		    .namespace = address->namespace, .name = address->name, .max = MAX_REGISTRY_PROVIDERS) < 0)
		return name_taken(store, "registry_providers_address", err);
	if (!rows.count)
		return err_at(
			err, "/data", "An organization can't have more than %d providers", MAX_REGISTRY_PROVIDERS);
	*ret_id = id;
	return 0;
}

static int first_found(const struct rows *rows, struct err *err)
{
	return rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "registry provider not found");
}

int registry_provider_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, registry_provider_read, .id = id) < 0 ? -1
											: first_found(ret_rows, err);
}

int registry_provider_find(
	struct store *store, const struct provider_address *address, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, registry_provider_find, .organization_id = address->organization_id,
		    .registry_name = address->registry_name, .namespace = address->namespace,
		    .name = address->name) < 0)
		return -1;
	return first_found(ret_rows, err);
}

int registry_providers_list(
	struct store *store, const struct provider_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, registry_providers_list, .organization_id = list->organization_id,
		.search = list->search, .registry_name = list->registry_name, .owner = list->owner,
		.tag_keys = db_array_or_null(list->tag_keys), .tag_values = db_array_or_null(list->tag_values),
		.limit = list->range.limit, .offset = list->range.offset);
}

int registry_provider_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, registry_provider_delete, .id = id);
}
