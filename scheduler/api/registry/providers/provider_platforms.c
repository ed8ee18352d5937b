/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/providers/provider_platforms.h"

#include "scheduler/api/registry/providers/providers.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/logs/log_sender.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/registry/providers/provider_platforms.sql.h"
#include "scheduler/store/registry/providers/provider_versions.sql.h"

/* The platforms of a provider's version, and their archives. */

/* ---- the resource ---- */

static int platform_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct provider_platform_row *p = of_row;
	bool read_only = store->scope && store->scope->read_only;
	bool manages = providers_managed(store, p->organization_id);
	_cleanup_(freep) char *put = mem_printf("/provider-platforms/%s", p->id);
	_cleanup_(freep) char *get = mem_printf("/provider-platforms/%s/archive.zip", p->id);
	json_t *links = json_object();

	(void)err;
	*ret_resource = resource_new("registry-provider-platforms", p->id,
		json_pack("{ss ss ss ss sb so sb s{sb sb}}", "os", p->os, "arch", p->arch, "filename", p->filename,
			"shasum", p->shasum, "provider-binary-uploaded", p->blob_id != NULL, "size",
			p->size_null ? json_null() : json_integer(p->size), "usable", p->usable, "permissions",
			"can-delete", manages, "can-upload-asset", manages),
		json_pack("{so}", "registry-provider-version", to_one("registry-provider-versions", p->version_id)));
	signed_link_set(links, "provider-binary-upload", store, manages && !read_only && !p->blob_id ? put : NULL);
	signed_link_set(links, "provider-binary-download", store, p->blob_id ? get : NULL);
	json_object_set_new(*ret_resource, "links", links);
	return 0;
}

static const struct resource_kind kind_provider_platforms = {
	.type = "registry-provider-platforms", .make = platform_resource, .no_page = true};

static int platform_show(
	struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_provider_platforms, rows}, err);
}

/* ---- platforms ---- */

static int platform_in_path(const struct request *req, struct rows *ret_rows, struct err *err)
{
	struct provider_platform_place place = {.os = param(req, "os"), .arch = param(req, "arch")};
	_cleanup_(rows_release) struct rows version = ROWS_INIT;

	if (provider_version_in_path(req, &version, err) < 0)
		return -1;
	place.version_id = row_of(provider_version, &version, 0)->id;
	return provider_platform_find(req->store, &place, ret_rows, err);
}

int provider_platforms_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows version = ROWS_INIT, rows = ROWS_INIT;
	struct page page;

	if (page_read(req, &page, err) < 0 || provider_version_in_path(req, &version, err) < 0 ||
		provider_platforms_list(req->store, row_of(provider_version, &version, 0)->id,
			&(struct list_range){page.size, page.offset}, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_provider_platforms, &rows}, err);
}

int provider_platforms_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (platform_in_path(req, &rows, err) < 0)
		return -1;
	return platform_show(req, res, 200, &rows, err);
}

int provider_platforms_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows version = ROWS_INIT, rows = ROWS_INIT;
	struct provider_platform_draft draft = {.os = NULL};
	struct id id;

	if (provider_version_in_path(req, &version, err) < 0 ||
		body_check(req, "registry-provider-version-platforms", err) < 0 ||
		body_text(req, "os", &draft.os, err) < 0 || body_text(req, "arch", &draft.arch, err) < 0 ||
		body_text(req, "filename", &draft.filename, err) < 0 ||
		body_text(req, "shasum", &draft.shasum, err) < 0 ||
		provider_platform_create(req->store, row_of(provider_version, &version, 0), &draft, &id, err) < 0 ||
		provider_platform_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return platform_show(req, res, 201, &rows, err);
}

int provider_platforms_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id;

	if (platform_in_path(req, &rows, err) < 0)
		return -1;
	id = row_of(provider_platform, &rows, 0)->id;
	registry_audit(req, "registry-provider-platforms", id);
	if (provider_platform_delete(req->store, id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the archive ---- */

int provider_archive_upload(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct provider_platform_row *platform;

	if (provider_platform_read(req->store, param(req, "provider_platform_id"), &rows, err) < 0)
		return -1;
	platform = row_of(provider_platform, &rows, 0);
	audit_note_place(req->audit, &(struct place){.organization = platform->organization_id});
	registry_audit(req, "registry-provider-platforms", platform->id);
	if (!req->http->body.len)
		return err_set(err, ERR_INVALID, "the archive is empty");
	if (provider_platform_upload(req->store, platform, buf_bytes(&req->http->body), err) < 0)
		return -1;
	return respond_empty(res, 200);
}

/* The archives of one organization take a part of the places for those that are sent. */
int provider_archive_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct provider_platform_row *platform;

	if (provider_platform_read(req->store, param(req, "provider_platform_id"), &rows, err) < 0)
		return -1;
	platform = row_of(provider_platform, &rows, 0);
	if (!platform->blob_id)
		return err_set(err, ERR_NOT_FOUND, "archive not found");
	if (log_send(req->services->archives,
		    &(struct log_order){.user = platform->organization_id,
			    .content_id = platform->blob_id,
			    .read = blob_get_part,
			    .to = platform->size},
		    &res->http->stream, err) < 0)
		return -1;
	res->http->content_type = "application/zip";
	res->http->stream_size = res->http->stream_limit = (uint64_t)platform->size;
	return 0;
}
