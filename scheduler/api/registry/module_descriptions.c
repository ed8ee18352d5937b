/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/registry/module_versions.sql.h"
#include "scheduler/store/registry/modules.sql.h"

/* What the inspection of a module's version has found; its root is null until then. The defect is for the members of
 * the organization, as the error of a version is. */

/* ERR_UNAVAILABLE as blob_get. */
static int description_read(
	struct store *store, const struct module_version_row *version, json_t **ret_description, struct err *err)
{
	bool published = text_equal(version->status, "ok");
	struct err why = ERR_INIT;

	if (published && module_inspection_read(store, version->id, ret_description, &why) == 0)
		return 0;
	if (published && why.kind != ERR_NOT_FOUND) {
		*err = why;
		return -1;
	}
	*ret_description = json_pack("{sn s[] s[] sn sb}", "root", "submodules", "examples", "error", "cut", 0);
	return 0;
}

static json_t *description_resource(const struct module_version_row *version, const json_t *description, bool member)
{
	static const char *const members[] = {"root", "submodules", "examples", "cut"};
	json_t *attributes = json_pack("{ss so}", "version", version->version, "error",
		json_string_or_null(member ? json_string_at(description, "error") : NULL));

	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		json_object_set(attributes, members[i], json_object_get(description, members[i]));
	return resource_new("registry-module-descriptions", version->id, attributes,
		json_pack("{so}", "registry-module", to_one("registry-modules", version->module_id)));
}

int registry_module_description(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows module = ROWS_INIT, version = ROWS_INIT;
	const struct registry_module_row *of;
	const struct module_version_row *found;
	json_auto_t *usable = NULL, *description = NULL;
	const char *wanted = query(req, "module_version");

	if (registry_module_in_path(req, &module, err) < 0)
		return -1;
	of = row_of(registry_module, &module, 0);
	usable = module_versions_usable(of);
	if (!wanted)
		wanted = module_version_latest(usable);
	if (module_version_find(req->store, of->id, text_or_empty(wanted), &version, err) < 0)
		return -1;
	found = row_of(module_version, &version, 0);
	if (description_read(req->store, found, &description, err) < 0)
		return -1;
	return respond_resource(res, 200,
		description_resource(found, description, registry_is_member(req->store, of->organization_id)));
}
