/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <stdio.h>
#include <string.h>

#include "common/crypto.h"
#include "common/vcs/ref.h"

static const struct vcs_dialect_rows *const dialects[VCS_DIALECTS] = {
	[VCS_GITHUB] = &vcs_github_rows,
	[VCS_GITLAB] = &vcs_gitlab_rows,
	[VCS_GITEA] = &vcs_gitea_rows,
	[VCS_BITBUCKET_CLOUD] = &vcs_bitbucket_cloud_rows,
	[VCS_BITBUCKET_SERVER] = &vcs_bitbucket_server_rows,
	[VCS_AZURE] = &vcs_azure_rows,
};

const struct vcs_dialect_rows *vcs_rows_of(enum vcs_dialect dialect)
{
	return dialects[dialect];
}

const struct vcs_row *vcs_row_of(enum vcs_dialect dialect, enum vcs_operation operation)
{
	const struct vcs_row *row = dialects[dialect] ? &dialects[dialect]->rows[operation] : NULL;

	return row && row->method ? row : NULL;
}

/* A token with a line end would be a second header. */
void vcs_header_add(json_t *headers, const char *prefix, const char *text)
{
	_cleanup_(freep) char *header = mem_printf("%s%s", prefix, text);

	if (!strpbrk(text, "\r\n"))
		json_array_append_new(headers, json_string(header));
}

void vcs_header_basic(json_t *headers, const char *pair)
{
	_cleanup_(freep) char *encoded = crypto_base64(pair, strlen(pair));

	vcs_header_add(headers, "Authorization: Basic ", encoded);
}

void vcs_header_bitbucket(json_t *headers, const char *token)
{
	if (strchr(token, ':'))
		vcs_header_basic(headers, token);
	else
		vcs_header_add(headers, "Authorization: Bearer ", token);
}

/* ---- readers ---- */

long long vcs_page(const json_t *arguments)
{
	long long page = json_int_at(arguments, "page", 1);

	return page > 0 ? page : 1;
}

json_t *vcs_read_text(const json_t *value, const char *path, size_t limit)
{
	const char *text = json_string_at(value, path);

	return text && strlen(text) <= limit ? json_string(text) : json_null();
}

json_t *vcs_read_cut(const json_t *value, const char *path, size_t limit)
{
	const char *text = json_string_at(value, path);
	_cleanup_(freep) char *cut = NULL;

	if (!text)
		return json_null();
	cut = mem_new(limit + 1, 1);
	text_copy(cut, limit + 1, text);
	return json_string(cut);
}

json_t *vcs_read_sha(const json_t *value, const char *path)
{
	const char *sha = json_string_at(value, path);

	return vcs_sha_valid(sha) ? json_string(sha) : json_null();
}

json_t *vcs_read_id(const json_t *value, const char *path)
{
	const json_t *id = json_at(value, path);
	char digits[24];

	if (!json_is_integer(id))
		return vcs_read_text(value, path, VCS_NAME_LIMIT);
	snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(id));
	return json_string(digits);
}

json_t *vcs_read_differs(const json_t *value, const char *one, const char *other)
{
	json_auto_t *a = vcs_read_id(value, one), *b = vcs_read_id(value, other);

	if (json_is_null(a) || json_is_null(b))
		return json_null();
	return json_boolean(!json_equal(a, b));
}

json_t *vcs_read_list(const json_t *array, json_t *(*read)(const json_t *item))
{
	json_t *list, *item, *made;
	size_t i;

	if (!json_is_array(array))
		return NULL;
	list = json_array();
	json_array_foreach((json_t *)array, i, item)
	{
		made = read(item);
		if (made)
			json_array_append_new(list, made);
	}
	return list;
}

static json_t *next_page(const struct vcs_answer *answer, const json_t *array, size_t size)
{
	return json_array_size(array) >= size ? json_integer(vcs_page(answer->arguments) + 1) : json_null();
}

json_t *vcs_read_page(
	const struct vcs_answer *answer, const json_t *array, size_t size, json_t *(*read)(const json_t *))
{
	json_t *items = vcs_read_list(array, read);

	return items ? json_pack("{so so}", "items", items, "next", next_page(answer, array, size)) : NULL;
}

json_t *vcs_read_files(const struct vcs_answer *answer, const json_t *array, size_t size, const char *const paths[2])
{
	json_t *files, *item;
	bool whole = true;
	size_t i;

	if (!json_is_array(array))
		return NULL;
	files = json_array();
	json_array_foreach((json_t *)array, i, item)
	{
		for (int side = 0; side < 2; side++) {
			const char *path = paths[side] ? json_string_at(item, paths[side]) : NULL;

			if (path && strlen(path) <= VCS_PATH_LIMIT)
				json_array_append_new(files, json_string(path));
			else if (side == 0 && !(paths[1] && json_string_at(item, paths[1])))
				whole = false;
		}
	}
	return json_pack("{so sb so}", "files", files, "whole", whole, "next", next_page(answer, array, size));
}

json_t *vcs_read_head(const struct vcs_answer *answer, const char *name, const char *sha)
{
	json_auto_t *text = vcs_read_sha(answer->body, sha);

	if (json_is_null(text))
		return NULL;
	return json_pack("{so sO}", "name", vcs_read_text(answer->body, name, VCS_NAME_LIMIT), "sha", text);
}

json_t *vcs_read_commit(const struct vcs_answer *answer, const struct vcs_commit_paths *paths)
{
	json_auto_t *sha = vcs_read_sha(answer->body, paths->sha);

	if (json_is_null(sha))
		return NULL;
	return json_pack("{sO so so so}", "sha", sha, "message",
		vcs_read_cut(answer->body, paths->message, VCS_MESSAGE_LIMIT), "author",
		vcs_read_text(answer->body, paths->author, VCS_NAME_LIMIT), "url",
		vcs_read_text(answer->body, paths->url, VCS_URL_LIMIT));
}

bool vcs_is_gone(const struct vcs_answer *answer)
{
	return answer->status == 404 || answer->status == 410;
}

/* The id of what a request made. */
json_t *vcs_read_made(const struct vcs_answer *answer)
{
	json_t *id = vcs_read_id(answer->body, "id");

	if (!json_is_null(id))
		return json_pack("{so}", "id", id);
	json_decref(id);
	return NULL;
}
