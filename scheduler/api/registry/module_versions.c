/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/module_versions.h"

#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/archive.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/registry/module_versions.sql.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"

/* Versions of private modules, and the upload of their content. */

enum { MAX_COMMIT = 64 };

/* Engines unpack a module in every run that uses it. */
static const struct archive_limits limits = {.entries = 20000, .bytes = 512LL << 20};

/* ---- the resource ---- */

/* Whoever manages modules may upload the content until somebody may have downloaded it. */
static bool shows_upload(const struct store *store, const struct module_version_row *version)
{
	bool read_only = store->scope && store->scope->read_only;

	return !version->tag && !version->is_given && !read_only &&
		registry_may_manage(store, version->organization_id);
}

static int version_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct module_version_row *v = of_row;
	_cleanup_(freep) char *path = mem_printf("/object/%s", v->id);
	_cleanup_(freep) char *upload = shows_upload(store, v) ? signed_url(store, path) : NULL;

	(void)err;
	*ret_resource = resource_new("registry-module-versions", v->id,
		json_pack("{ss ss ss so so so so so so so}", "version", v->version, "source", v->source, "status",
			v->status, "error", json_string_or_null(v->error), "commit-sha",
			json_string_or_null(v->commit_sha), "tag", json_string_or_null(v->tag), "sha256",
			json_string_or_null(v->sha256), "size", v->size_null ? json_null() : json_integer(v->size),
			"created-at", time_shown(v->created_at), "updated-at", time_shown(v->updated_at)),
		json_pack("{so}", "registry-module", to_one("registry-modules", v->module_id)));
	json_object_set_new(*ret_resource, "links", json_pack("{so}", "upload", json_string_or_null(upload)));
	return 0;
}

static const struct resource_kind kind_module_versions = {.type = "registry-module-versions", .make = version_resource};

static int version_show(struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	return respond_row(req, res, status, &(struct resource_rows){&kind_module_versions, rows}, err);
}

/* ---- versions ---- */

static int version_in_path(struct request *req, const char *version, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows module = ROWS_INIT;

	if (registry_module_in_path(req, &module, err) < 0)
		return -1;
	return module_version_find(req->store, row_of(registry_module, &module, 0)->id, version, ret_rows, err);
}

int module_versions_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (version_in_path(req, text_or_empty(query(req, "module_version")), &rows, err) < 0)
		return -1;
	return version_show(req, res, 200, &rows, err);
}

int module_versions_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows module = ROWS_INIT, rows = ROWS_INIT;
	const char *version = NULL, *commit_sha = NULL;
	struct id id;

	if (registry_module_in_path(req, &module, err) < 0 || body_check(req, "registry-module-versions", err) < 0 ||
		body_text(req, "version", &version, err) < 0 || body_text(req, "commit-sha", &commit_sha, err) < 0 ||
		length_check("Commit sha", "/data/attributes/commit-sha", commit_sha, MAX_COMMIT, err) < 0)
		return -1;
	if (!text_equal(row_of(registry_module, &module, 0)->registry_name, REGISTRY_PRIVATE))
		return err_set(err, ERR_FORBIDDEN, "the public registry has the versions of a public module");
	if (row_of(registry_module, &module, 0)->repository)
		return err_set(err, ERR_INVALID, "The versions of the module are the tags of its repository");
	if (module_version_create(req->store, row_of(registry_module, &module, 0)->id, version, commit_sha, &id, err) <
			0 ||
		module_version_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return version_show(req, res, 201, &rows, err);
}

int module_versions_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct module_version_row *version;

	if (version_in_path(req, param(req, "module_version"), &rows, err) < 0)
		return -1;
	version = row_of(module_version, &rows, 0);
	registry_audit(req, "registry-module-versions", version->id);
	if (module_version_delete(req->store, version, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the content ---- */

int module_versions_upload(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct buf *body = &req->http->body;
	const struct module_version_row *version;
	struct err ignored = ERR_INIT;

	if (module_version_read(req->store, param(req, "module_version_id"), &rows, err) < 0)
		return -1;
	version = row_of(module_version, &rows, 0);
	audit_note_place(req->audit, &(struct place){.organization = version->organization_id});
	registry_audit(req, "registry-module-versions", version->id);
	if (archive_check_within(buf_bytes(body), &limits, err) < 0) {
		module_version_refuse(req->store, version->id, err->message, &ignored);
		return -1;
	}
	if (module_version_upload(req->store, version->id, buf_bytes(body), err) < 0)
		return -1;
	return respond_empty(res, 200);
}
