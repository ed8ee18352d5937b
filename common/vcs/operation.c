/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/vcs/operation_rows.h"

enum { URL_LIMIT = 8192 };

static const struct {
	const char *name;
	bool writes;
} operations[VCS_OPERATIONS] = {
#define OPERATION(symbol, name, writes) [VCS_OP_##symbol] = {name, writes},
#include "common/vcs/operations.def"
#undef OPERATION
};

const char *vcs_operation_name(enum vcs_operation operation)
{
	return operations[operation].name;
}

enum vcs_operation vcs_operation_of(const char *name)
{
	for (int i = 0; i < VCS_OPERATIONS; i++)
		if (text_equal(name, operations[i].name))
			return (enum vcs_operation)i;
	return VCS_OPERATIONS;
}

bool vcs_operation_writes(enum vcs_operation operation)
{
	return operations[operation].writes;
}

bool vcs_operation_exists(enum vcs_dialect dialect, enum vcs_operation operation)
{
	return vcs_row_of(dialect, operation) != NULL;
}

/* ---- requests ---- */

void vcs_http_release(struct vcs_http *http)
{
	free(http->url);
	free(http->body);
	json_decref(http->headers);
	*http = (struct vcs_http){.method = NULL};
}

/* "." and ".." would change the path, even if they are encoded. */
static int segment_append(struct buf *url, const char *text, struct err *err)
{
	if (!*text || text_equal(text, ".") || text_equal(text, "..") || buf_url(url, text) < 0)
		return err_set(err, ERR_INVALID, "'%.100s' can't be part of an address", text);
	return 0;
}

/* Appends `len` bytes of an identifier, each segment encoded. */
static int segments_append(struct buf *url, const char *text, size_t len, struct err *err)
{
	_cleanup_(freep) char *copy = mem_printf("%.*s", (int)len, text);

	for (char *segment = copy, *end; segment; segment = end) {
		end = strchr(segment, '/');
		if (end)
			*end++ = '\0';
		if (segment_append(url, segment, err) < 0)
			return -1;
		if (end)
			buf_text(url, "/");
	}
	return 0;
}

/* Parts of "org/project/_git/repo": {collection} is "org", {within} is "org/project". */
static int azure_append(struct buf *url, const char *identifier, const char *member, struct err *err)
{
	const char *git = strstr(identifier, "/_git/"),
		   *slash = git ? memrchr(identifier, '/', (size_t)(git - identifier)) : NULL;

	if (text_equal(member, "within"))
		return segments_append(url, identifier, git ? (size_t)(git - identifier) : 0, err);
	if (text_equal(member, "collection"))
		return segments_append(url, identifier, slash ? (size_t)(slash - identifier) : 0, err);
	return 1;
}

/* A part of the identifier. 1: the member is none. */
static int identifier_append(struct buf *url, const struct vcs_api *api, const char *member, struct err *err)
{
	const char *identifier = text_or_empty(api->identifier), *last = strrchr(identifier, '/');

	if (text_equal(member, "repo"))
		return segments_append(url, identifier, strlen(identifier), err);
	if (text_equal(member, "project"))
		return segment_append(url, identifier, err);
	if (text_equal(member, "owner"))
		return segments_append(url, identifier, last ? (size_t)(last - identifier) : 0, err);
	if (text_equal(member, "name"))
		return segment_append(url, last ? last + 1 : "", err);
	return azure_append(url, identifier, member, err);
}

static int argument_append(struct buf *url, const json_t *arguments, const char *member, struct err *err)
{
	const json_t *value = json_at(arguments, member);

	if (text_equal(member, "page"))
		return buf_printf(url, "%lld", vcs_page(arguments));
	if (text_equal(member, "start")) /* of the page, where pages are named by their first item */
		return buf_printf(url, "%lld", (vcs_page(arguments) - 1) * VCS_LIST_MAX);
	if (text_equal(member, "filter"))
		return buf_url(url, text_or_empty(json_string_value(value)));
	if (text_equal(member, "comment")) /* some have two parts */
		return segments_append(url, text_or_empty(json_string_value(value)),
			strlen(text_or_empty(json_string_value(value))), err);
	if (json_is_integer(value))
		return buf_printf(url, "%lld", (long long)json_integer_value(value));
	return segment_append(url, text_or_empty(json_string_value(value)), err);
}

static int path_append(
	struct buf *url, const struct vcs_api *api, const char *path, const json_t *arguments, struct err *err)
{
	while (*path) {
		size_t len = strcspn(path, "{");
		const char *end = strchr(path + len, '}');
		char member[64];
		int done;

		if (buf_append(url, path, len) < 0)
			return err_set(err, ERR_INVALID, "the address is too long");
		if (!end)
			return 0;
		snprintf(member, sizeof(member), "%.*s", (int)(end - path - (ptrdiff_t)len - 1), path + len + 1);
		done = identifier_append(url, api, member, err);
		if (done < 0 || (done > 0 && argument_append(url, arguments, member, err) < 0))
			return -1;
		path = end + 1;
	}
	return 0;
}

static int url_make(const struct vcs_api *api, const struct vcs_row *row, const json_t *arguments,
	struct vcs_http *http, struct err *err)
{
	_cleanup_(buf_release) struct buf url = BUF_INIT(URL_LIMIT);
	const char *base = vcs_rows_of(api->dialect)->base;
	size_t len = strlen(api->api_url);

	while (len > 0 && api->api_url[len - 1] == '/')
		len--;
	if (row->filled) {
		http->url = row->filled(api, arguments);
		return http->url ? 0 : err_set(err, ERR_INVALID, "the address can't be made");
	}
	buf_append(&url, api->api_url, len);
	if (base && !strstr(buf_str(&url), base))
		buf_text(&url, base);
	if (path_append(&url, api, row->path, arguments, err) < 0)
		return -1;
	http->url = buf_take(&url);
	return 0;
}

int vcs_http_make(const struct vcs_api *api, enum vcs_operation operation, const json_t *arguments,
	struct vcs_http *ret_http, struct err *err)
{
	struct vcs_http http = {.method = NULL};
	const struct vcs_row *row = vcs_row_of(api->dialect, operation);

	if (!row)
		return err_set(err, ERR_INVALID, "%s has no operation %s", vcs_dialect_name(api->dialect),
			operations[operation].name);
	if (url_make(api, row, arguments, &http, err) < 0)
		return -1;
	http.method = row->method;
	if (row->body) {
		json_auto_t *body = row->body(arguments);

		if (!body) {
			vcs_http_release(&http);
			return err_set(err, ERR_INVALID, "an argument of %s is missing", operations[operation].name);
		}
		http.body = json_text(body);
	}
	http.headers = json_array();
	if (api->token)
		vcs_rows_of(api->dialect)->headers(api, http.headers);
	*ret_http = http;
	return 0;
}

int vcs_answer_read(const struct vcs_answer *answer, json_t **ret_result, struct err *err)
{
	const struct vcs_row *row = vcs_row_of(answer->dialect, answer->operation);
	json_t *result = row && row->read ? row->read(answer) : json_object();

	if (!result)
		return err_set(err, ERR_MALFORMED, "the provider's answer to %s is not of the documented form",
			operations[answer->operation].name);
	*ret_result = result;
	return 0;
}
