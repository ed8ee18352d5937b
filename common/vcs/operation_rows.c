/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation_rows.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
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

void vcs_header_bitbucket(const struct vcs_api *api, json_t *headers)
{
	if (strchr(api->token, ':'))
		vcs_header_basic(headers, api->token);
	else
		vcs_header_add(headers, "Authorization: Bearer ", api->token);
}

const char *vcs_bitbucket_state(const json_t *arguments)
{
	static const char *const states[][2] = {
		{"pending", "INPROGRESS"}, {"success", "SUCCESSFUL"}, {"failure", "FAILED"}, {"error", "FAILED"}};

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (text_equal(json_string_at(arguments, "state"), states[i][0]))
			return states[i][1];
	return NULL;
}

/* ---- members ---- */

json_t *vcs_read_text(const char *text, size_t limit)
{
	return text && strlen(text) <= limit ? json_string(text) : json_null();
}

json_t *vcs_read_cut(const char *text, size_t limit)
{
	_cleanup_(freep) char *cut = NULL;

	if (!text)
		return json_null();
	cut = mem_new(limit + 1, 1);
	text_copy(cut, limit + 1, text);
	return json_string(cut);
}

static json_t *read_key(const json_t *item, const char *const paths[3])
{
	for (size_t i = 0; i < 3 && paths[i]; i++)
		if (json_string_at(item, paths[i]))
			return vcs_read_text(json_string_at(item, paths[i]), VCS_NAME_LIMIT);
	return json_null();
}

static json_t *read_pair(const char *first, const char *second)
{
	_cleanup_(freep) char *pair = first && second ? mem_printf("%s/%s", first, second) : NULL;

	return vcs_read_text(pair, VCS_NAME_LIMIT);
}

static json_t *read_id(const json_t *id)
{
	char digits[24];

	if (!json_is_integer(id))
		return vcs_read_text(json_string_value(id), VCS_NAME_LIMIT);
	snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(id));
	return json_string(digits);
}

static json_t *read_branch(const char *ref)
{
	const char *branch = vcs_ref_branch(ref);

	return vcs_read_text(branch ? branch : ref, VCS_NAME_LIMIT);
}

static json_t *read_link(const json_t *links, const char *name)
{
	json_t *link;
	size_t i;

	json_array_foreach((json_t *)links, i, link)
	{
		if (!name || text_starts(text_or_empty(json_string_at(link, "name")), name))
			return vcs_read_text(json_string_at(link, "href"), VCS_URL_LIMIT);
	}
	return json_null();
}

static json_t *read_time(const json_t *time)
{
	static const long long max_ms = 253402300799999; /* of the year 9999 */
	char text[CLOCK_TEXT_SIZE];

	if (!json_is_integer(time))
		return vcs_read_text(json_string_value(time), VCS_NAME_LIMIT);
	if (json_integer_value(time) < 0 || json_integer_value(time) > max_ms)
		return json_null();
	return json_string(clock_text((int64_t)json_integer_value(time) * 1000, text));
}

static json_t *read_differ(const json_t *one, const json_t *other)
{
	json_auto_t *a = read_id(one), *b = read_id(other);

	if (json_is_null(a) || json_is_null(b))
		return json_null();
	return json_boolean(!json_equal(a, b));
}

static bool is_required(enum vcs_form form)
{
	return form >= VCS_KEY && form <= VCS_COMMIT;
}

static json_t *read_member(const json_t *item, enum vcs_form form, const char *const paths[3])
{
	const json_t *value = paths[0] ? json_at(item, paths[0]) : NULL;
	const json_t *other = paths[1] ? json_at(item, paths[1]) : NULL;
	const char *text = json_string_value(value);
	const long long number = json_is_integer(value) ? json_integer_value(value) : 0;

	switch (form) {
	case VCS_KEY:
		return read_key(item, paths);
	case VCS_PAIR:
		return read_pair(text, json_string_value(other));
	case VCS_ID:
		return read_id(value);
	case VCS_NUMBER:
		return number > 0 ? json_integer(number) : json_null();
	case VCS_COMMIT:
	case VCS_SHA:
		return vcs_sha_valid(text) ? json_string(text) : json_null();
	case VCS_NAME:
		return vcs_read_text(text, VCS_NAME_LIMIT);
	case VCS_BRANCH:
		return read_branch(text);
	case VCS_URL:
		return vcs_read_text(text, VCS_URL_LIMIT);
	case VCS_TITLE:
		return vcs_read_cut(text, VCS_TITLE_LIMIT);
	case VCS_TEXT:
		return vcs_read_cut(text, VCS_TEXT_LIMIT);
	case VCS_TIME:
		return read_time(value);
	case VCS_LINK:
		return read_link(value, paths[1]);
	case VCS_VERSION:
		return json_integer(number);
	case VCS_FLAG:
		return json_boolean(json_is_true(value));
	case VCS_IS:
		return json_boolean(text_equal(text, paths[1]));
	case VCS_EXISTS:
		return json_boolean(json_is_object(value));
	case VCS_DIFFER:
		return read_differ(value, other);
	default:
		return json_null();
	}
}

/* ---- results ---- */

/* NULL: the item lacks a required member. */
static json_t *read_members(const json_t *item, const struct vcs_item *form)
{
	json_t *result = json_object(), *value;

	for (size_t i = 0; i < ARRAY_LEN(form->members) && form->members[i].name; i++) {
		value = read_member(item, form->members[i].form, form->members[i].paths);
		if (json_is_null(value) && is_required(form->members[i].form)) {
			json_decref(result);
			return NULL;
		}
		json_object_set_new(result, form->members[i].name, value);
	}
	return result;
}

static json_t *read_item(const json_t *item, const struct vcs_row *row)
{
	return row->read_item ? row->read_item(item) : read_members(item, row->item);
}

static json_t *next_page(const struct vcs_answer *answer, const json_t *array, size_t page)
{
	const bool last = json_bool_at(answer->body, "isLastPage", json_array_size(array) < page);

	return last ? json_null() : json_integer(vcs_page(answer->arguments) + 1);
}

static json_t *read_list(const struct vcs_answer *answer, const json_t *array, const struct vcs_row *row)
{
	json_t *items = json_array(), *item, *made;
	size_t i;

	json_array_foreach((json_t *)array, i, item)
	{
		made = read_item(row->within ? json_at(item, row->within) : item, row);
		if (made && row->unless && json_bool_at(item, row->unless, false))
			json_decref(made);
		else if (made)
			json_array_append_new(items, made);
	}
	return json_pack("{so so}", "items", items, "next", next_page(answer, array, row->page));
}

/* Providers filter by a part of the name. */
static json_t *read_named(const struct vcs_answer *answer, const json_t *array, const struct vcs_row *row)
{
	const char *branch = json_string_at(answer->arguments, "branch");
	json_t *item, *made;
	size_t i;

	json_array_foreach((json_t *)array, i, item)
	{
		made = read_item(item, row);
		if (made && text_equal(json_string_at(made, "name"), branch))
			return made;
		json_decref(made);
	}
	return NULL;
}

json_t *vcs_read_row(const struct vcs_answer *answer, const struct vcs_row *row)
{
	const json_t *array =
		row->list && !json_is_array(answer->body) ? json_at(answer->body, row->list) : answer->body;

	if (row->read)
		return row->read(answer);
	if (row->files)
		return vcs_read_files(answer, array, row->page, row->files);
	if (row->page)
		return json_is_array(array) ? read_list(answer, array, row) : NULL;
	if (row->list)
		return read_named(answer, array, row);
	return row->item || row->read_item ? read_item(answer->body, row) : json_object();
}

json_t *vcs_read_files(const struct vcs_answer *answer, const json_t *array, size_t page, const char *const paths[2])
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
	return json_pack("{so sb so}", "files", files, "whole", whole, "next", next_page(answer, array, page));
}

long long vcs_page(const json_t *arguments)
{
	long long page = json_int_at(arguments, "page", 1);

	return page > 0 ? page : 1;
}

bool vcs_is_gone(const struct vcs_answer *answer)
{
	return answer->status == 404 || answer->status == 410;
}

const struct vcs_item vcs_made = {{{"id", VCS_ID, {"id"}}}};
