/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/provider_versions.h"

#include <string.h>

#include "scheduler/api/registry/providers/providers.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/openpgp/openpgp.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/providers/gpg_keys.h"
#include "scheduler/store/registry/providers/gpg_keys.sql.h"
#include "scheduler/store/registry/providers/provider_versions.sql.h"
#include "scheduler/store/registry/providers/providers.sql.h"

/* Versions of private providers: their SHA256SUMS, and the verification of its signature. */

enum { MAX_KEY_ID = 64, MAX_PROTOCOLS = 10 };

/* ---- the resource ---- */

static json_t *links_shown(const struct store *store, const struct provider_version_row *v)
{
	bool read_only = store->scope && store->scope->read_only;
	bool uploads = !v->gpg_key_id && !read_only && providers_managed(store, v->organization_id);
	_cleanup_(freep) char *shasums_put = mem_printf("/providers/%s/shasums", v->id);
	_cleanup_(freep) char *signature_put = mem_printf("/providers/%s/shasums-sig", v->id);
	_cleanup_(freep) char *shasums = mem_printf("/providers/%s/SHA256SUMS", v->id);
	_cleanup_(freep) char *signature = mem_printf("/providers/%s/SHA256SUMS.sig", v->id);
	json_t *links = json_object();

	signed_link_set(links, "shasums-upload", store, uploads ? shasums_put : NULL);
	signed_link_set(links, "shasums-sig-upload", store, uploads ? signature_put : NULL);
	signed_link_set(links, "shasums-download", store, v->has_shasums ? shasums : NULL);
	signed_link_set(links, "shasums-sig-download", store, v->has_signature ? signature : NULL);
	return links;
}

/* ["linux_amd64"]: the platforms that engines find. */
static json_t *platforms_usable(const struct provider_version_row *v)
{
	json_auto_t *platforms = json_shown(v->platforms);
	json_t *usable = json_array(), *platform;
	size_t i;

	json_array_foreach(platforms, i, platform)
	{
		_cleanup_(freep) char *name =
			mem_printf("%s_%s", json_string_at(platform, "os"), json_string_at(platform, "arch"));

		if (json_bool_at(platform, "usable", false))
			json_array_append_new(usable, json_string(name));
	}
	return usable;
}

static json_t *platforms_linked(const struct provider_version_row *v)
{
	json_auto_t *platforms = json_shown(v->platforms), *ids = json_array();
	json_t *platform;
	size_t i;

	json_array_foreach(platforms, i, platform) json_array_append(ids, json_object_get(platform, "id"));
	return to_many("registry-provider-platforms", ids);
}

static int version_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct provider_version_row *v = of_row;
	bool manages = providers_managed(store, v->organization_id);

	(void)err;
	*ret_resource = resource_new("registry-provider-versions", v->id,
		json_pack("{ss so so ss so sb sb sb so s{sb sb}}", "version", v->version, "created-at",
			time_shown(v->created_at), "updated-at", time_shown(v->updated_at), "key-id", v->key_id,
			"protocols", json_shown(v->protocols), "shasums-uploaded", v->has_shasums,
			"shasums-sig-uploaded", v->has_signature, "signature-verified", v->gpg_key_id != NULL,
			"usable-platforms", platforms_usable(v), "permissions", "can-delete", manages,
			"can-upload-asset", manages),
		json_pack("{so so}", "registry-provider", to_one("registry-providers", v->provider_id), "platforms",
			platforms_linked(v)));
	json_object_set_new(*ret_resource, "links", links_shown(store, v));
	return 0;
}

const struct resource_kind kind_provider_versions = {
	.type = "registry-provider-versions", .ask = provider_versions_ask, .make = version_resource, .no_page = true};

static int version_show(struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_provider_versions, rows}, err);
}

/* ---- versions ---- */

int provider_version_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows provider = ROWS_INIT;

	if (registry_provider_in_path(req, &provider, err) < 0)
		return -1;
	return provider_version_find(
		req->store, row_of(registry_provider, &provider, 0)->id, param(req, "provider_version"), ret_rows, err);
}

int provider_versions_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows provider = ROWS_INIT, rows = ROWS_INIT;
	struct page page;

	if (page_read(req, &page, err) < 0 || registry_provider_in_path(req, &provider, err) < 0 ||
		provider_versions_list(req->store, row_of(registry_provider, &provider, 0)->id,
			&(struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_provider_versions, &rows}, err);
}

int provider_versions_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (provider_version_in_path(req, &rows, err) < 0)
		return -1;
	return version_show(req, res, 200, &rows, err);
}

/* A protocol is the number of a version: "5.0". */
static bool protocol_valid(const char *text)
{
	size_t major = strspn(text, "0123456789");
	size_t minor = text[major] == '.' ? strspn(text + major + 1, "0123456789") : 0;

	return major && major < 3 && minor && minor < 3 && !text[major + 1 + minor];
}

static int protocols_check(const json_t *protocols, struct err *err)
{
	const json_t *item;
	size_t i;

	json_array_foreach(protocols, i, item) if (i >= MAX_PROTOCOLS ||
		!protocol_valid(json_string_value(item))) return err_at(err, "/data/attributes/protocols",
		"Protocols must be a list of versions of the plugin protocol, such as 5.0");
	return 0;
}

static int draft_read(const struct request *req, struct provider_version_draft *draft, struct err *err)
{
	static const char pointer[] = "/data/attributes/key-id";

	if (body_check(req, "registry-provider-versions", err) < 0 ||
		body_text(req, "version", &draft->version, err) < 0 ||
		body_text(req, "key-id", &draft->key_id, err) < 0 ||
		body_texts(req, "protocols", &draft->protocols, err) < 0 || protocols_check(draft->protocols, err) < 0)
		return -1;
	if (!*text_or_empty(draft->key_id))
		return err_at(err, pointer, "Key can't be blank: it is the key id of a GPG key of the organization");
	return length_check("Key", pointer, draft->key_id, MAX_KEY_ID, err);
}

int provider_versions_create(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *usual = json_pack("[s]", "5.0");
	_cleanup_(rows_release) struct rows provider = ROWS_INIT, rows = ROWS_INIT;
	struct provider_version_draft draft = {.provider_id = NULL};
	const struct registry_provider_row *owner;
	struct id id;

	if (registry_provider_in_path(req, &provider, err) < 0 || draft_read(req, &draft, err) < 0)
		return -1;
	owner = row_of(registry_provider, &provider, 0);
	if (!text_equal(owner->registry_name, REGISTRY_PRIVATE))
		return err_set(err, ERR_FORBIDDEN, "the public registry has the versions of a public provider");
	draft.provider_id = owner->id;
	if (!json_array_size(draft.protocols))
		draft.protocols = usual;
	if (provider_version_create(req->store, &draft, &id, err) < 0 ||
		provider_version_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return version_show(req, res, 201, &rows, err);
}

int provider_versions_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (provider_version_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(provider_version, &rows, 0)->id;
	registry_audit(req, "registry-provider-versions", id);
	if (provider_version_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- SHA256SUMS and its signature ---- */

/* The organization's key that the version names. A key of another organization is not found either. */
static int key_find(
	const struct request *req, const struct provider_version_row *version, struct rows *ret_key, struct err *err)
{
	if (gpg_key_find(req->store, version->organization_id, version->key_id, ret_key, err) == 0)
		return 0;
	return err->kind != ERR_NOT_FOUND
		? -1
		: err_set(err, ERR_INVALID,
			  "the organization has no GPG key %s, which the version names: add it, and upload again",
			  version->key_id);
}

/* Verifies both files, and parses the checksums. */
static int files_verify(const struct request *req, const struct gpg_key_row *key,
	const struct provider_version_files *files, json_t **ret_checksums, struct err *err)
{
	const struct openpgp_signed what = {key->ascii_armor, buf_bytes(&files->shasums), buf_bytes(&files->signature)};
	struct err why = ERR_INIT;

	if (openpgp_verify(req->services->openpgp, &what, &why) < 0)
		return err_set(err, why.kind, "the signature of SHA256SUMS by the key %s can't be verified: %.300s",
			key->key_id, why.message);
	return shasums_parse(what.document, ret_checksums, err);
}

static int files_store(struct request *req, const struct provider_version_row *version,
	const struct provider_version_files *files, struct err *err)
{
	struct provider_version_change change = {.files = files};
	_cleanup_(rows_release) struct rows key = ROWS_INIT;
	json_auto_t *checksums = NULL;

	if (files->shasums.len && files->signature.len) {
		if (key_find(req, version, &key, err) < 0 ||
			files_verify(req, row_of(gpg_key, &key, 0), files, &checksums, err) < 0)
			return -1;
		change.key_id = row_of(gpg_key, &key, 0)->id;
		change.checksums = checksums;
	}
	return provider_version_files_write(req->store, version, &change, err);
}

static bool same_bytes(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(buf_str(a), buf_str(b), a->len) == 0;
}

/* Verified files stay. */
static int file_upload(struct request *req, struct response *res, bool is_signature, struct err *err)
{
	_cleanup_(provider_version_files_release) struct provider_version_files files = PROVIDER_VERSION_FILES_INIT;
	struct buf *file = is_signature ? &files.signature : &files.shasums;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct buf *body = &req->http->body;
	const struct provider_version_row *version;

	if (provider_version_read(req->store, param(req, "provider_version_id"), &rows, err) < 0)
		return -1;
	version = row_of(provider_version, &rows, 0);
	audit_note_place(req->audit, &(struct place){.organization = version->organization_id});
	registry_audit(req, "registry-provider-versions", version->id);
	if (!body->len)
		return err_set(err, ERR_INVALID, "the file is empty");
	if (provider_version_files_read(req->store, version, &files, err) < 0)
		return -1;
	if (version->gpg_key_id)
		return same_bytes(file, body)
			? respond_empty(res, 200)
			: err_set(err, ERR_CONFLICT,
				  "the signature of the version is verified: publish other content "
				  "as another version");
	buf_cut(file, 0);
	if (buf_append(file, body->data, body->len) < 0)
		return err_set(err, ERR_TOO_LARGE, "the file has more than %d bytes", MAX_SHASUMS);
	if (files_store(req, version, &files, err) < 0)
		return -1;
	return respond_empty(res, 200);
}

int provider_shasums_upload(struct request *req, struct response *res, struct err *err)
{
	return file_upload(req, res, false, err);
}

int provider_shasums_sig_upload(struct request *req, struct response *res, struct err *err)
{
	return file_upload(req, res, true, err);
}

static int file_download(struct request *req, struct response *res, bool is_signature, struct err *err)
{
	_cleanup_(provider_version_files_release) struct provider_version_files files = PROVIDER_VERSION_FILES_INIT;
	struct buf *file = is_signature ? &files.signature : &files.shasums;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (provider_version_read(req->store, param(req, "provider_version_id"), &rows, err) < 0 ||
		provider_version_files_read(req->store, row_of(provider_version, &rows, 0), &files, err) < 0)
		return -1;
	if (!file->len)
		return err_set(err, ERR_NOT_FOUND, "file not found");
	return respond_bytes(res, is_signature ? "application/pgp-signature" : "text/plain; charset=utf-8", file);
}

int provider_shasums_download(struct request *req, struct response *res, struct err *err)
{
	return file_download(req, res, false, err);
}

int provider_shasums_sig_download(struct request *req, struct response *res, struct err *err)
{
	return file_download(req, res, true, err);
}
