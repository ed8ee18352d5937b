/* SPDX-License-Identifier: MPL-2.0 */
/* The provider registry protocol, by which `terraform init` finds private providers. Engines see a version and its
 * platforms once the signature is verified and the archives have the signed checksums. They verify both again. */
#include "scheduler/api/registry/providers/providers.h"
#include "scheduler/auth/signed.h"
#include "scheduler/store/registry/providers/gpg_keys.h"
#include "scheduler/store/registry/providers/gpg_keys.sql.h"
#include "scheduler/store/registry/providers/provider_platforms.h"
#include "scheduler/store/registry/providers/provider_platforms.sql.h"
#include "scheduler/store/registry/providers/provider_versions.h"
#include "scheduler/store/registry/providers/provider_versions.sql.h"
#include "scheduler/store/registry/providers/providers.h"
#include "scheduler/store/registry/providers/providers.sql.h"

enum { DOWNLOAD_SECONDS = 300 };

/* The private provider `:namespace/:registry_provider` of an organization of the requester. */
static int provider_find(const struct request *req, struct rows *ret_rows, struct err *err)
{
	struct id organization;
	const struct provider_address address = {.organization_id = organization.text,
		.registry_name = REGISTRY_PRIVATE,
		.namespace = param(req, "namespace"),
		.name = param(req, "registry_provider")};

	return registry_namespace_find(req, address.namespace, "provider", &organization, err) < 0
		? -1
		: registry_provider_find(req->store, &address, ret_rows, err);
}

static json_t *platforms_usable(const char *column)
{
	json_auto_t *all = json_shown(column);
	json_t *usable = json_array(), *item;
	size_t i;

	json_array_foreach(all, i, item)
	{
		if (json_bool_at(item, "usable", false))
			json_array_append_new(usable,
				json_pack("{sO sO}", "os", json_object_get(item, "os"), "arch",
					json_object_get(item, "arch")));
	}
	return usable;
}

int registry_provider_versions(struct request *req, struct response *res, struct err *err)
{
	static const struct list_range all = {.limit = MAX_PROVIDER_VERSIONS};
	_cleanup_(rows_release) struct rows provider = ROWS_INIT, rows = ROWS_INIT;
	json_t *versions;

	if (provider_find(req, &provider, err) < 0 ||
		provider_versions_list(req->store, row_of(registry_provider, &provider, 0)->id, &all, &rows, err) < 0)
		return -1;
	versions = json_array();
	for (int i = 0; i < rows.count && row_of(provider_version, &rows, i)->id; i++) {
		const struct provider_version_row *version = row_of(provider_version, &rows, i);
		json_auto_t *platforms = platforms_usable(version->platforms);

		if (json_array_size(platforms))
			json_array_append_new(versions,
				json_pack("{ss so sO}", "version", version->version, "protocols",
					json_shown(version->protocols), "platforms", platforms));
	}
	return respond_json(res, 200, json_pack("{so}", "versions", versions));
}

/* ---- downloads ---- */

/* What engines need to download and to verify the archive. The addresses are signed, so that engines need no token for
 * them, and expire soon. */
static json_t *download_shown(const struct store *store, const struct provider_version_row *version,
	const struct provider_platform_row *platform, const struct gpg_key_row *key)
{
	_cleanup_(freep) char *shasums_path = mem_printf("/providers/%s/SHA256SUMS", version->id);
	_cleanup_(freep) char *signature_path = mem_printf("/providers/%s/SHA256SUMS.sig", version->id);
	_cleanup_(freep) char *archive_path = mem_printf("/provider-platforms/%s/archive.zip", platform->id);
	_cleanup_(freep) char *shasums = signed_url_for(store, shasums_path, DOWNLOAD_SECONDS);
	_cleanup_(freep) char *signature = signed_url_for(store, signature_path, DOWNLOAD_SECONDS);
	_cleanup_(freep) char *archive = signed_url_for(store, archive_path, DOWNLOAD_SECONDS);

	return json_pack("{so ss ss ss ss ss ss ss s{s[{ss ss ss ss so}]}}", "protocols",
		json_shown(version->protocols), "os", platform->os, "arch", platform->arch, "filename",
		platform->filename, "shasum", platform->shasum, "download_url", archive, "shasums_url", shasums,
		"shasums_signature_url", signature, "signing_keys", "gpg_public_keys", "key_id", key->key_id,
		"ascii_armor", key->ascii_armor, "trust_signature", "", "source", "", "source_url", json_null());
}

int registry_provider_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows provider = ROWS_INIT, version = ROWS_INIT, platform = ROWS_INIT;
	_cleanup_(rows_release) struct rows key = ROWS_INIT;
	struct provider_platform_place place = {.os = param(req, "os"), .arch = param(req, "arch")};

	if (provider_find(req, &provider, err) < 0 ||
		provider_version_find(req->store, row_of(registry_provider, &provider, 0)->id,
			param(req, "provider_version"), &version, err) < 0)
		return -1;
	place.version_id = row_of(provider_version, &version, 0)->id;
	if (provider_platform_find(req->store, &place, &platform, err) < 0)
		return -1;
	if (!row_of(provider_platform, &platform, 0)->usable)
		return err_set(err, ERR_NOT_FOUND, "provider not found");
	if (gpg_key_read(req->store, row_of(provider_version, &version, 0)->gpg_key_id, &key, err) < 0)
		return -1;
	return respond_json(res, 200,
		download_shown(req->store, row_of(provider_version, &version, 0),
			row_of(provider_platform, &platform, 0), row_of(gpg_key, &key, 0)));
}
