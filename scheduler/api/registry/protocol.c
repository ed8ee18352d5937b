/* SPDX-License-Identifier: MPL-2.0 */
/* The module registry protocol, by which `terraform init` finds private modules. */
#include <string.h>

#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/signed.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/registry/module_versions.sql.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"

enum { DOWNLOAD_SECONDS = 300, MAX_LISTED = 100 };

/* ---- who uses the module ---- */

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "module not found");
}

/* The requester's organization that may use the modules of the path's `:namespace`: the namespace itself, or one of its
 * consumers. */
static int organization_find(const struct request *req, struct id *ret_organization, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (organization_lookup(req->store, param(req, "namespace"), &rows, err) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	id = row_of(organization_lookup, &rows, 0)->id;
	if (may(req, (struct place){.organization = id}, "module", err) == 0) {
		text_copy(ret_organization->text, sizeof(ret_organization->text), id);
		return 0;
	}
	return err->kind == ERR_NOT_FOUND ? registry_consumer_find(req, id, ret_organization, err) : -1;
}

static int module_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	struct id organization;
	struct module_address address = {.organization_id = organization.text,
		.registry_name = REGISTRY_PRIVATE,
		.namespace = param(req, "namespace"),
		.name = param(req, "module"),
		.provider = param(req, "module_provider")};

	return organization_find(req, &organization, err) < 0
		? -1
		: registry_module_find(req->store, &address, ret_rows, err);
}

/* ---- versions ---- */

json_t *module_versions_usable(const struct registry_module_row *module)
{
	json_auto_t *all = json_shown(module->versions);
	json_t *usable = json_array(), *item;
	size_t i;

	json_array_foreach(all, i, item)
	{
		if (text_equal(json_string_at(item, "status"), "ok") && !json_bool_at(item, "revoked", false))
			json_array_append_new(usable,
				json_pack("{sO sO}", "version", json_object_get(item, "version"), "deprecation",
					json_object_get(item, "deprecation")));
	}
	return usable;
}

const char *module_version_latest(const json_t *usable)
{
	const json_t *item;
	size_t i;

	json_array_foreach(usable, i, item)
	{
		const char *version = json_string_at(item, "version");

		if (version[strcspn(version, "-+")] != '-')
			return version;
	}
	return json_string_at(json_array_get(usable, 0), "version");
}

int registry_versions(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct registry_module_row *module;
	_cleanup_(freep) char *source = NULL;

	if (module_in_path(req, &rows, err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	source = mem_printf("%s/%s/%s", module->namespace, module->name, module->provider);
	return respond_json(res, 200,
		json_pack("{s[{ss so}]}", "modules", "source", source, "versions", module_versions_usable(module)));
}

/* ---- descriptions ---- */

static json_t *module_shown(const struct registry_module_row *module, const char *version, const char *published_at)
{
	_cleanup_(freep) char *id =
		mem_printf("%s/%s/%s/%s", module->namespace, module->name, module->provider, version);

	return json_pack("{ss ss ss ss ss so sb}", "id", id, "namespace", module->namespace, "name", module->name,
		"provider", module->provider, "version", version, "published_at", time_shown(published_at), "verified",
		0);
}

static int version_usable(const struct request *req, const struct registry_module_row *module, const char *version,
	struct rows *ret_rows, struct err *err)
{
	const struct module_version_row *found;

	if (module_version_find(req->store, module->id, version, ret_rows, err) < 0)
		return -1;
	found = row_of(module_version, ret_rows, 0);
	if (found->revocation) {
		json_auto_t *why = json_shown(found->revocation);

		return err_set(err, ERR_FORBIDDEN, "the version was revoked. %.300s",
			text_or_empty(json_string_at(why, "message")));
	}
	return text_equal(found->status, "ok") ? 0 : not_found(err);
}

/* The source addresses of the providers that the module's root needs. A new reference. */
static json_t *providers_of(const json_t *root)
{
	const json_t *provider;
	json_t *sources = json_array();
	size_t i;

	json_array_foreach(json_object_get(root, "provider_dependencies"), i, provider)
		json_array_append_new(sources, json_string(text_or_empty(json_string_at(provider, "name"))));
	return sources;
}

/* Adds what the inspection of the version has found; nothing if there is nothing yet. */
static int description_add(struct request *req, const struct registry_module_row *module,
	const struct module_version_row *version, json_t *shown, struct err *err)
{
	static const char *const members[] = {"root", "submodules", "examples"};
	json_auto_t *description = NULL;
	struct err why = ERR_INIT;

	if (module_inspection_read(req->store, version->id, &description, &why) < 0) {
		if (why.kind == ERR_NOT_FOUND)
			return 0;
		*err = why;
		return -1;
	}
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_object_set(shown, members[i], json_object_get(description, members[i]));
	json_object_set_new(json_object_get(shown, "root"), "name", json_string(module->name));
	json_object_set_new(shown, "providers", providers_of(json_object_get(description, "root")));
	return 0;
}

/* Shows a version; NULL: the latest one. */
static int details_respond(struct request *req, struct response *res, const char *wanted, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, version = ROWS_INIT;
	const struct registry_module_row *module;
	json_auto_t *usable = NULL;
	json_t *shown, *names, *item;
	size_t i;

	if (module_in_path(req, &rows, err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	usable = module_versions_usable(module);
	if (!wanted)
		wanted = module_version_latest(usable);
	if (version_usable(req, module, text_or_empty(wanted), &version, err) < 0)
		return -1;
	shown = module_shown(module, wanted, row_of(module_version, &version, 0)->created_at);
	names = json_array();
	json_array_foreach(usable, i, item) json_array_append(names, json_object_get(item, "version"));
	json_object_set_new(shown, "versions", names);
	json_object_set_new(shown, "deprecation", json_shown(row_of(module_version, &version, 0)->deprecation));
	if (description_add(req, module, row_of(module_version, &version, 0), shown, err) < 0) {
		json_decref(shown);
		return -1;
	}
	return respond_json(res, 200, shown);
}

int registry_module_latest(struct request *req, struct response *res, struct err *err)
{
	return details_respond(req, res, NULL, err);
}

int registry_version_show(struct request *req, struct response *res, struct err *err)
{
	return details_respond(req, res, param(req, "module_version"), err);
}

/* The modules of the namespace, or those of one name in it (NULL: all), each with its latest version. `offset` and
 * `limit` select a part. */
static int list_respond(struct request *req, struct response *res, const char *name, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id organization;
	struct module_list list = {.organization_id = organization.text,
		.registry_name = REGISTRY_PRIVATE,
		.owner = param(req, "namespace"),
		.name = name,
		.provider = text_or_null(text_or_empty(query(req, "provider"))),
		.range = {.limit = MAX_LISTED}};
	json_t *modules, *meta;

	if (text_number(text_or_empty(query(req, "offset")), 0, INT32_MAX, &list.range.offset) < 0)
		list.range.offset = 0;
	if (text_number(text_or_empty(query(req, "limit")), 1, MAX_LISTED, &list.range.limit) < 0)
		list.range.limit = MAX_LISTED;
	if (organization_find(req, &organization, err) < 0 || registry_modules_list(req->store, &list, &rows, err) < 0)
		return -1;
	modules = json_array();
	for (int i = 0; i < rows.count && row_of(registry_module, &rows, i)->id; i++) {
		const struct registry_module_row *module = row_of(registry_module, &rows, i);
		json_auto_t *usable = module_versions_usable(module);

		if (module_version_latest(usable))
			json_array_append_new(
				modules, module_shown(module, module_version_latest(usable), module->updated_at));
	}
	meta = json_pack(
		"{sI sI}", "limit", (json_int_t)list.range.limit, "current_offset", (json_int_t)list.range.offset);
	if (row_of(registry_module, &rows, 0)->total > list.range.offset + list.range.limit)
		json_object_set_new(meta, "next_offset", json_integer(list.range.offset + list.range.limit));
	return respond_json(res, 200, json_pack("{so so}", "meta", meta, "modules", modules));
}

int registry_namespace_list(struct request *req, struct response *res, struct err *err)
{
	return list_respond(req, res, NULL, err);
}

int registry_name_list(struct request *req, struct response *res, struct err *err)
{
	return list_respond(req, res, param(req, "module"), err);
}

/* ---- downloads ---- */

/* The address is signed, so that engines need no token for it, and expires soon. */
int registry_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, found = ROWS_INIT;
	_cleanup_(freep) char *path = NULL;
	_cleanup_(freep) char *url = NULL;
	const struct module_version_row *version;

	if (module_in_path(req, &rows, err) < 0 ||
		version_usable(req, row_of(registry_module, &rows, 0), param(req, "module_version"), &found, err) < 0)
		return -1;
	version = row_of(module_version, &found, 0);
	if (!version->is_given && module_version_give(req->store, version->id, err) < 0)
		return -1;
	path = mem_printf("/object/%s/module.tar.gz", version->id);
	url = signed_url_for(req->store, path, DOWNLOAD_SECONDS);
	http_add_header(res->http, "X-Terraform-Get", url);
	return respond_empty(res, 204);
}

int registry_download_latest(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct registry_module_row *module;
	_cleanup_(freep) char *location = NULL;
	json_auto_t *usable = NULL;

	if (module_in_path(req, &rows, err) < 0)
		return -1;
	module = row_of(registry_module, &rows, 0);
	usable = module_versions_usable(module);
	if (!module_version_latest(usable))
		return not_found(err);
	location = mem_printf("%s" REGISTRY_PREFIX "/modules/%s/%s/%s/%s/download", req->store->settings->public_url,
		module->namespace, module->name, module->provider, module_version_latest(usable));
	text_copy(res->http->location, sizeof(res->http->location), location);
	return respond_empty(res, 302);
}

int module_versions_content(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_ARCHIVE);

	if (module_version_read(req->store, param(req, "module_version_id"), &rows, err) < 0)
		return -1;
	if (row_of(module_version, &rows, 0)->revocation || !text_equal(row_of(module_version, &rows, 0)->status, "ok"))
		return not_found(err);
	if (blob_get(req->store, row_of(module_version, &rows, 0)->blob_id, &bytes, err) < 0)
		return -1;
	return respond_bytes(res, "application/gzip", &bytes);
}
