/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/module_versions.h"

#include <stdio.h>

#include "common/vcs/ref.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/archive.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/fields.h"
#include "scheduler/runs/registry/version_tests.h"
#include "scheduler/store/registry/module_tags.h"
#include "scheduler/store/registry/module_versions.sql.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"

/* Versions of private modules, and the upload of their content. */

enum { MAX_COMMIT = 64, MAX_MARK = 1000 };

/* Engines unpack a module in every run that uses it. */
static const struct archive_limits limits = {.entries = 20000, .bytes = 512LL << 20};

/* ---- the resource ---- */

/* Those who manage modules may upload the content until a download may have begun. */
static bool shows_upload(const struct store *store, const struct module_version_row *version)
{
	bool read_only = store->scope && store->scope->read_only;

	return text_equal(version->source, "tfe-api") && !version->is_given && !read_only &&
		registry_may_manage(store, version->organization_id);
}

static json_t *revocation_shown(const struct module_version_row *version)
{
	json_t *shown = json_shown(version->revocation);

	if (!json_is_object(shown))
		return shown;
	json_object_set_new(shown, "status", json_string("Revoked"));
	return shown;
}

static int version_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct module_version_row *v = of_row;
	bool member = registry_is_member(store, v->organization_id);
	_cleanup_(freep) char *path = mem_printf("/object/%s", v->id);
	_cleanup_(freep) char *upload = shows_upload(store, v) ? signed_url(store, path) : NULL;

	(void)err;
	*ret_resource = resource_new("registry-module-versions", v->id,
		json_pack("{ss ss ss so so so so so so so so so}", "version", v->version, "source", v->source, "status",
			v->status, "error", json_string_or_null(member ? v->error : NULL), "commit-sha",
			json_string_or_null(member ? v->commit_sha : NULL), "tag",
			json_string_or_null(member ? v->tag : NULL), "sha256", json_string_or_null(v->sha256), "size",
			v->size_null ? json_null() : json_integer(v->size), "deprecation", json_shown(v->deprecation),
			"revocation", revocation_shown(v), "created-at", time_shown(v->created_at), "updated-at",
			time_shown(v->updated_at)),
		json_pack("{so so}", "registry-module", to_one("registry-modules", v->module_id), "test-run",
			to_one("test-runs", member ? v->test_run : NULL)));
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

/* A version of a module with a branch: from the commit, or from the head of the branch. */
static int version_request(struct request *req, const struct registry_module_row *module,
	const struct module_version_draft *draft, struct id *ret_id, struct err *err)
{
	json_auto_t *used = json_shown(module->repository);
	const struct module_version_wish wish = {
		.draft = {draft->module_id, draft->version, text_or_null(text_or_empty(draft->commit_sha))},
		.repository_id = json_string_at(used, "repository"),
		.provider = vcs_provider_of(json_string_at(used, "provider"))};

	if (!*text_or_empty(json_string_at(used, "branch")))
		return err_at(err, "/data", "The versions of the module are the tags of its repository");
	if (wish.draft.commit_sha && (!vcs_sha_valid(wish.draft.commit_sha) || vcs_sha_is_zero(wish.draft.commit_sha)))
		return err_at(err, "/data/attributes/commit-sha", "Commit sha must have 40 or 64 digits, 0-9 and a-f");
	return module_version_request(req->store, &wish, ret_id, err);
}

int module_versions_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows module = ROWS_INIT, rows = ROWS_INIT;
	struct module_version_draft draft = {.module_id = NULL};
	const struct registry_module_row *owner;
	struct id id;

	if (registry_module_in_path(req, &module, err) < 0 || body_check(req, "registry-module-versions", err) < 0 ||
		body_text(req, "version", &draft.version, err) < 0 ||
		body_text(req, "commit-sha", &draft.commit_sha, err) < 0 ||
		length_check("Commit sha", "/data/attributes/commit-sha", draft.commit_sha, MAX_COMMIT, err) < 0)
		return -1;
	owner = row_of(registry_module, &module, 0);
	if (!text_equal(owner->registry_name, REGISTRY_PRIVATE))
		return err_set(err, ERR_FORBIDDEN, "the public registry has the versions of a public module");
	draft.module_id = owner->id;
	if ((owner->repository ? version_request(req, owner, &draft, &id, err)
			       : module_version_create(req->store, &draft, &id, err)) < 0 ||
		module_version_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return version_show(req, res, 201, &rows, err);
}

/* ---- versions that should not or can't be used ---- */

/* One of the two attributes of a change, which is a status and two texts. */
struct mark {
	const char *name, *status, *text; /* its members */
	const char *set, *unset;          /* its statuses */
};
static const struct mark deprecation_mark = {
	"deprecation", "deprecated-status", "reason", "Deprecated", "Undeprecated"};
static const struct mark revocation_mark = {"revocation", "status", "message", "Revoked", "Unrevoked"};

static int mark_text(
	const struct mark *mark, const json_t *sent, const char *name, const char **ret_text, struct err *err)
{
	const json_t *value = json_object_get(sent, name);
	char pointer[64];

	snprintf(pointer, sizeof(pointer), "/data/attributes/%s/%s", mark->name, name);
	*ret_text = text_or_empty(json_string_value(value));
	if (value && !json_is_string(value) && !json_is_null(value))
		return err_at(err, pointer, "%s must be a string", name);
	return length_check(name, pointer, *ret_text, MAX_MARK, err);
}

/* Sets *value (owned) as the body says, or leaves it. */
static int mark_read(const struct request *req, const struct mark *mark, json_t **value, struct err *err)
{
	const json_t *sent = json_object_get(json_at(req->body, "data.attributes"), mark->name);
	const char *status, *text, *link;
	char pointer[64];

	if (!sent)
		return 0;
	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", mark->name);
	if (!json_is_object(sent))
		return err_at(err, pointer, "%s must be an object", mark->name);
	if (mark_text(mark, sent, mark->status, &status, err) < 0 ||
		mark_text(mark, sent, mark->text, &text, err) < 0 || mark_text(mark, sent, "link", &link, err) < 0)
		return -1;
	if (!text_equal(status, mark->set) && !text_equal(status, mark->unset))
		return err_at(err, pointer, "%s must be %s or %s", mark->status, mark->set, mark->unset);
	if (*link && !text_starts(link, "https://") && !text_starts(link, "http://"))
		return err_at(err, pointer, "link must be a URL with https or http");
	json_decref(*value);
	*value = text_equal(status, mark->set) ? json_pack("{ss ss}", mark->text, text, "link", link) : NULL;
	return 0;
}

static json_t *json_or_null(const char *column)
{
	return column ? json_shown(column) : NULL;
}

static int marks_change(struct request *req, const struct module_version_row *version, struct err *err)
{
	json_auto_t *deprecation = json_or_null(version->deprecation), *revocation = json_or_null(version->revocation);

	if (mark_read(req, &deprecation_mark, &deprecation, err) < 0 ||
		mark_read(req, &revocation_mark, &revocation, err) < 0)
		return -1;
	if (revocation && !deprecation)
		return err_at(err, "/data/attributes/revocation",
			"A version must be deprecated before it is revoked, and while it is revoked");
	return module_version_mark(req->store, version->id, deprecation, revocation, err);
}

int module_versions_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	const char *type = text_or_empty(json_string_at(json_at(req->body, "data"), "type"));
	const char *id;

	if (version_in_path(req, param(req, "module_version"), &rows, err) < 0 ||
		body_check(req, text_equal(type, "module-versions") ? type : "registry-module-versions", err) < 0)
		return -1;
	id = row_of(module_version, &rows, 0)->id;
	if (marks_change(req, row_of(module_version, &rows, 0), err) < 0 ||
		module_version_read(req->store, id, &changed, err) < 0)
		return -1;
	return version_show(req, res, 200, &changed, err);
}

/* ---- tests before publication ---- */

int module_versions_test(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, changed = ROWS_INIT;
	const char *id;

	if (version_in_path(req, param(req, "module_version"), &rows, err) < 0)
		return -1;
	id = row_of(module_version, &rows, 0)->id;
	registry_audit(req, "registry-module-versions", id);
	if (version_test_again(req->store, id, req->actor.user.text, err) < 0 ||
		module_version_read(req->store, id, &changed, err) < 0)
		return -1;
	return version_show(req, res, 200, &changed, err);
}

/* ---- deletion ---- */

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
