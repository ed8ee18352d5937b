/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/request.h"

#include <string.h>

#include "scheduler/http/audit_note.h"

const char *param(const struct request *req, const char *name)
{
	for (size_t i = 0; i < req->match.count; i++)
		if (strlen(name) == req->match.params[i].name_len &&
			strncmp(name, req->match.params[i].name, req->match.params[i].name_len) == 0)
			return req->match.params[i].value;
	return "";
}

const char *query(const struct request *req, const char *name)
{
	return http_query(req->http, name);
}

int may_with(
	const struct request *req, enum permission permission, struct place place, const char *what, struct err *err)
{
	audit_note_place(req->audit, &place);
	if (actor_may(req->store, &req->actor, permission, place, err) == 0)
		return 0;
	return err->kind == ERR_NOT_FOUND ? err_set(err, ERR_NOT_FOUND, "%s not found", what) : -1;
}

int may(const struct request *req, struct place place, const char *what, struct err *err)
{
	return may_with(req, req->route->permission, place, what, err);
}

struct checking {
	bool malformed;
};

static void query_check_one(void *data, const char *name, const char *value)
{
	struct checking *check = data;
	json_t *name_text = json_string(name), *value_text = json_string(value);

	/* jansson creates no string from bytes that are not UTF-8. */
	if (!name_text || !value_text)
		check->malformed = true;
	json_decref(name_text);
	json_decref(value_text);
}

int query_text_check(const struct request *req, struct err *err)
{
	struct checking check = {false};

	http_query_each(req->http, query_check_one, &check);
	return check.malformed ? err_set(err, ERR_MALFORMED, "the query string is not UTF-8") : 0;
}

/* ---- include ---- */

static bool same_relation(const char *a, size_t len, const char *b)
{
	if (strlen(b) != len)
		return false;
	for (size_t i = 0; i < len; i++)
		if (a[i] != b[i] && !(strchr("-_", a[i]) && strchr("-_", b[i])))
			return false;
	return true;
}

bool query_includes(const struct request *req, const char *relation)
{
	const char *at = text_or_empty(query(req, "include"));

	while (*at) {
		size_t len = strcspn(at, ",");

		if (same_relation(at, len, relation))
			return true;
		at += len + (at[len] == ',');
	}
	return false;
}

static bool relation_known(const char *name, size_t len, const char *const *known)
{
	for (; *known; known++)
		if (same_relation(name, len, *known))
			return true;
	return false;
}

int query_includes_check(const struct request *req, const char *const *known, struct err *err)
{
	const char *at = text_or_empty(query(req, "include"));

	while (*at) {
		size_t len = strcspn(at, ",");

		if (len && !relation_known(at, len, known)) {
			err_set(err, ERR_MALFORMED, "%.*s is not a valid include for this resource",
				(int)(len > 100 ? 100 : len), at);
			text_copy(err->title, sizeof(err->title), "Invalid include parameter");
			return -1;
		}
		at += len + (at[len] == ',');
	}
	return 0;
}

/* ---- pages ---- */

enum { PAGE_SIZE = 20, MAX_PAGE = 100, MAX_PAGE_NUMBER = 1000000000 };

static int page_member(const struct request *req, const char *name, long long *value, struct err *err)
{
	const char *text = query(req, name);

	if (!text || !*text || text_number(text, 1, MAX_PAGE_NUMBER, value) == 0)
		return 0;
	return err_set(err, ERR_MALFORMED, "%s must be a whole number from 1", name);
}

static int page_read_within(
	const struct request *req, long long size, long long max, struct page *ret_page, struct err *err)
{
	struct page page = {.number = 1, .size = size};

	if (page_member(req, "page[number]", &page.number, err) < 0 ||
		page_member(req, "page[size]", &page.size, err) < 0)
		return -1;
	if (page.size > max)
		page.size = max;
	page.offset = (page.number - 1) * page.size;
	*ret_page = page;
	return 0;
}

int page_read(const struct request *req, struct page *ret_page, struct err *err)
{
	return page_read_within(req, PAGE_SIZE, MAX_PAGE, ret_page, err);
}

int page_read_limited(const struct request *req, long long max, struct page *ret_page, struct err *err)
{
	return page_read_within(req, max, max, ret_page, err);
}
