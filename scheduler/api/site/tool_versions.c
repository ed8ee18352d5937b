/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/resources.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/workers/tool_versions.h"
#include "scheduler/store/workers/tool_versions.sql.h"

/* The versions of terraform, opa and sentinel that site admins list. A disabled version of terraform can't be selected,
 * and no run starts with it. Workers that download OPA (--opa-mirror) get a listed version of it from its URL, and
 * check the digest. The other URLs and digests are informational: workers get those programs through their own options.
 */

enum { MAX_ARCHS = 16, MAX_URL = 2048, MAX_REASON = 1024 };

/* ---- output ---- */

static const json_t *arch_find(const json_t *archs, const char *name)
{
	const json_t *arch;
	size_t i;

	json_array_foreach(archs, i, arch) if (text_equal(json_string_at(arch, "arch"), name)) return arch;
	return NULL;
}

/* `url` and `sha` are those of linux/amd64, from before there were `archs`. */
static json_t *tool_version_resource(const void *of_row)
{
	const struct tool_version_row *version = of_row;
	json_auto_t *archs = json_shown(version->archs);
	const json_t *first = arch_find(archs, "amd64");
	char type[32];

	snprintf(type, sizeof(type), "%s-versions", version->tool);
	return resource_new(type, version->id,
		json_pack("{so ss ss sO sb sb sb sb so sI so}", "version", json_string_or_null(version->version), "url",
			text_or_empty(json_string_at(first, "url")), "sha", text_or_empty(json_string_at(first, "sha")),
			"archs", archs, "official", version->official, "enabled", version->enabled, "beta",
			version->beta, "deprecated", version->deprecated, "deprecated-reason",
			json_string_or_null(version->deprecated_reason), "usage", (json_int_t)version->usage,
			"created-at", time_shown(version->created_at)),
		NULL);
}

static const struct resource_kind kind_tool_versions = {.type = "tool-versions", .show = tool_version_resource};

static int version_read_resource(
	struct store *store, const char *tool, const char *id, json_t **ret_resource, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (tool_version_read(store, tool, id, &rows, err) < 0)
		return -1;
	*ret_resource = tool_version_resource(row_of(tool_version, &rows, 0));
	return 0;
}

static int versions_index(struct request *req, struct response *res, const char *tool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct tool_versions list = {
		.tool = tool, .exact = query(req, "filter[version]"), .search = query(req, "search[version]")};
	struct page page;

	if (page_read(req, &page, err) < 0)
		return -1;
	list.limit = page.size;
	list.offset = page.offset;
	if (tool_versions_list(req->store, &list, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_tool_versions, &rows}, err);
}

static int versions_read(struct request *req, struct response *res, const char *tool, struct err *err)
{
	json_t *resource;

	if (version_read_resource(req->store, tool, param(req, "version"), &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

/* ---- input ---- */

static int url_check(const char *url, const char *pointer, struct err *err)
{
	if (url && text_starts(url, "https://") && strlen(url) <= MAX_URL)
		return 0;
	return err_at(err, pointer, "URL must begin with https://");
}

static int sha_check(const char *sha, const char *pointer, struct err *err)
{
	if (sha && strlen(sha) == 64 && strspn(sha, "0123456789abcdef") == 64)
		return 0;
	return err_at(err, pointer, "SHA must be a SHA-256 digest of 64 hexadecimal digits");
}

static json_t *arch_make(const char *arch, const char *url, const char *sha)
{
	return json_pack("{ss ss ss ss}", "os", "linux", "arch", arch, "url", url, "sha", sha);
}

static int arch_read(const json_t *given, size_t number, json_t *archs, struct err *err)
{
	static const char *const names[] = {"amd64", "arm64", "s390x"};
	const char *arch = json_string_at(given, "arch"), *url = json_string_at(given, "url");
	const char *sha = json_string_at(given, "sha");
	size_t i = 0;
	char pointer[48];

	snprintf(pointer, sizeof(pointer), "/data/attributes/archs/%zu", number);
	while (i < ARRAY_LEN(names) && !text_equal(arch, names[i]))
		i++;
	if (i == ARRAY_LEN(names) || !text_equal(json_string_at(given, "os"), "linux"))
		return err_at(err, pointer, "OS must be linux, and arch amd64, arm64 or s390x");
	if (arch_find(archs, arch))
		return err_at(err, pointer, "Arch %s is named twice", arch);
	if (url_check(url, pointer, err) < 0 || sha_check(sha, pointer, err) < 0)
		return -1;
	json_array_append_new(archs, arch_make(arch, url, sha));
	return 0;
}

/* `archs` replaces all architectures. */
static int archs_read(const json_t *given, json_t *fields, struct err *err)
{
	json_auto_t *archs = json_array();
	const json_t *arch;
	size_t i;

	if (!json_is_array(given) || json_array_size(given) > MAX_ARCHS)
		return err_at(err, "/data/attributes/archs", "Archs must be a list of {url, sha, os, arch}");
	json_array_foreach(given, i, arch) if (arch_read(arch, i, archs, err) < 0) return -1;
	json_object_set(fields, "archs", archs);
	return 0;
}

/* `url` and `sha` replace all architectures by amd64 alone. */
static int only_arch_read(const struct request *req, json_t *fields, struct err *err)
{
	const json_t *old = arch_find(json_object_get(fields, "archs"), "amd64");
	const char *url = json_string_at(old, "url"), *sha = json_string_at(old, "sha");

	if (body_text(req, "url", &url, err) < 0 || url_check(url, "/data/attributes/url", err) < 0 ||
		body_text(req, "sha", &sha, err) < 0 || sha_check(sha, "/data/attributes/sha", err) < 0)
		return -1;
	json_object_set_new(fields, "archs", json_pack("[o]", arch_make("amd64", url, sha)));
	return 0;
}

static int programs_read(const struct request *req, json_t *fields, struct err *err)
{
	const json_t *archs = json_at(req->body, "data.attributes.archs");

	if (json_array_size(archs) || (archs && !json_is_array(archs) && !json_is_null(archs)))
		return archs_read(archs, fields, err);
	if (body_has(req, "url") || body_has(req, "sha"))
		return only_arch_read(req, fields, err);
	if (!json_array_size(json_object_get(fields, "archs")))
		return err_at(err, "/data/attributes/archs", "Archs, or url and sha, must be given");
	return 0;
}

/* Accepts "1.11.4" and "1.6.0-rc1", but no constraint. */
static bool version_is_exact(const char *version)
{
	enum { NUMBERS = 3, MAX_DIGITS = 19, MAX_TEXT = 64 };
	static const char digits[] = "0123456789",
			  rest[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-";
	const char *at = version;

	for (int i = 0; i < NUMBERS; i++) {
		size_t len = strspn(at, digits);

		if (len < 1 || len > MAX_DIGITS || (i < NUMBERS - 1 && at[len] != '.'))
			return false;
		at += len + (i < NUMBERS - 1);
	}
	return strlen(version) <= MAX_TEXT && (!*at || ((*at == '-' || *at == '+') && !at[strspn(at, rest)]));
}

static const struct field sent[] = {
	{"version", FIELD_TEXT, NULL},
	{"official", FIELD_BOOL, NULL},
	{"enabled", FIELD_BOOL, NULL},
	{"beta", FIELD_BOOL, NULL},
	{"deprecated", FIELD_BOOL, NULL},
	{"deprecated-reason", FIELD_TEXT, NULL},
};

/* Applies the body to `fields`, which has all fields of a version. */
static int fields_change(const struct request *req, const char *tool, json_t *fields, struct err *err)
{
	char type[32];

	snprintf(type, sizeof(type), "%s-versions", tool);
	if (body_check(req, type, err) < 0 || fields_read(req, sent, ARRAY_LEN(sent), fields, err) < 0 ||
		programs_read(req, fields, err) < 0)
		return -1;
	if (!version_is_exact(text_or_empty(json_string_at(fields, "version"))))
		return err_at(err, "/data/attributes/version", "Version must be exact, such as 1.11.4 or 1.6.0-rc1");
	if (!json_bool_at(fields, "deprecated", false))
		json_object_set_new(fields, "deprecated-reason", json_null());
	return length_check("Deprecated reason", "/data/attributes/deprecated-reason",
		json_string_at(fields, "deprecated-reason"), MAX_REASON, err);
}

/* ---- changing ---- */

static int versions_create(struct request *req, struct response *res, const char *tool, struct err *err)
{
	json_auto_t *fields = json_pack("{s[] sb sb sb sb sn}", "archs", "official", 0, "enabled", 1, "beta", 0,
		"deprecated", 0, "deprecated-reason");
	struct id id;
	json_t *resource;

	if (fields_change(req, tool, fields, err) < 0 || tool_version_create(req->store, tool, fields, &id, err) < 0)
		return -1;
	if (version_read_resource(req->store, tool, id.text, &resource, err) < 0)
		return -1;
	return respond_resource(res, 201, resource);
}

static int versions_update(struct request *req, struct response *res, const char *tool, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *fields = NULL;
	json_t *resource;
	const struct tool_version_row *version;

	if (tool_version_read(req->store, tool, param(req, "version"), &rows, err) < 0)
		return -1;
	version = row_of(tool_version, &rows, 0);
	fields = json_pack("{so so sb sb sb sb so}", "version", json_string_or_null(version->version), "archs",
		json_shown(version->archs), "official", version->official, "enabled", version->enabled, "beta",
		version->beta, "deprecated", version->deprecated, "deprecated-reason",
		json_string_or_null(version->deprecated_reason));
	if (fields_change(req, tool, fields, err) < 0 ||
		tool_version_update(req->store, param(req, "version"), fields, err) < 0)
		return -1;
	if (version_read_resource(req->store, tool, param(req, "version"), &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

static int versions_delete(struct request *req, struct response *res, const char *tool, struct err *err)
{
	if (tool_version_delete(req->store, tool, param(req, "version"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the routes ---- */

#define ROUTE(tool, action)                                                                                            \
	int tool##_versions_##action(struct request *req, struct response *res, struct err *err)                       \
	{                                                                                                              \
		return versions_##action(req, res, #tool, err);                                                        \
	}
#define TOOL(tool) ROUTE(tool, index) ROUTE(tool, create) ROUTE(tool, read) ROUTE(tool, update) ROUTE(tool, delete)

TOOL(terraform)
TOOL(opa)
TOOL(sentinel)
