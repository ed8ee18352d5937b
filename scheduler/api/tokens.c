/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/tokens.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "scheduler/api/api.h"

enum { DESCRIPTION_MOST = 512, YEARS_VALID = 2 };

static json_t *token_resource(const struct rows *rows, int row)
{
	json_t *attributes = json_pack("{s:o, s:o, s:o, s:o, s:n}", "description", row_string(rows, row, "description"),
		"created-at", row_time(rows, row, "created_at"), "last-used-at", row_time(rows, row, "last_used_at"),
		"expired-at", row_time(rows, row, "expired_at"), "token");

	return resource_new("authentication-tokens", row_text(rows, row, "id"), attributes,
		json_pack("{s:o, s:o}", "created-by", to_one("users", row_text(rows, row, "user_id")), "team",
			to_one("teams", NULL)));
}

static int token_not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "token not found");
}

/* The path's user is who asks: nobody sees another one's tokens. */
static int user_check(const struct request *req, struct err *err)
{
	return text_equal(param(req, "user"), req->actor.user.text) ? 0 : err_set(err, ERR_NOT_FOUND, "user not found");
}

/* The token of the path, which is the actor's own. */
static int token_of(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (token_read(req->store, param(req, "token"), ret_rows, err) < 0)
		return -1;
	return text_equal(row_text(ret_rows, 0, "user_id"), req->actor.user.text) ? 0 : token_not_found(err);
}

/* "2026-11-21T01:25:00Z", with a fraction or another offset as clients like it. */
static bool time_valid(const char *text)
{
	struct tm parts = {.tm_mday = 1};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	int day = parts.tm_mday;

	if (!rest || strlen(text) > 40 || parts.tm_year < 70 || parts.tm_year > 1100 || parts.tm_sec > 59)
		return false;
	timegm(&parts); /* makes 2 March of 30 February */
	if (parts.tm_mday != day)
		return false;
	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (strcmp(rest, "Z") == 0)
		return true;
	return strlen(rest) == 6 && strchr("+-", rest[0]) && strspn(rest + 1, "0123456789:") == 5 && rest[3] == ':' &&
		rest[1] < '2' && rest[4] < '6';
}

/* Without a wish it holds for two years. */
static void default_expiry(char ret_text[32])
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	parts.tm_year += YEARS_VALID;
	if (parts.tm_mon == 1 && parts.tm_mday == 29)
		parts.tm_mday = 28;
	strftime(ret_text, 32, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

int tokens_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *token = NULL;
	struct token_order order = {.user_id = req->actor.user.text};
	char fallback[32];
	struct id id;
	json_t *resource;

	if (user_check(req, err) < 0 || (req->body && body_check(req, "authentication-tokens", err) < 0) ||
		body_text(req, "description", &order.description, err) < 0 ||
		body_text(req, "expired-at", &order.expires_at, err) < 0)
		return -1;
	if (order.expires_at && !time_valid(order.expires_at))
		return err_at(
			err, "/data/attributes/expired-at", "Expired at must be a time such as 2026-11-21T01:25:00Z");
	if (strlen(text_or_empty(order.description)) > DESCRIPTION_MOST)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			DESCRIPTION_MOST);
	default_expiry(fallback);
	if (!order.expires_at)
		order.expires_at = fallback;
	if (token_create(req->store, &order, &token, &id, err) < 0 || token_read(req->store, id.text, &rows, err) < 0)
		return -1;
	resource = token_resource(&rows, 0);
	json_object_set_new(json_object_get(resource, "attributes"), "token", json_string(token));
	return respond_resource(res, 201, resource);
}

int tokens_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;
	json_t *data;

	if (user_check(req, err) < 0 || page_read(req, &page, err) < 0 ||
		tokens_of_user(req->store, req->actor.user.text, page.size, page.offset, &rows, err) < 0)
		return -1;
	page.total = row_int(&rows, 0, "total");
	data = json_array();
	for (int i = 0; i < rows.count && !row_null(&rows, i, "id"); i++)
		json_array_append_new(data, token_resource(&rows, i));
	return respond_page(req, res, &page, data, NULL);
}

int tokens_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (token_of(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, token_resource(&rows, 0));
}

int tokens_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (token_of(req, &rows, err) < 0 || token_delete(req->store, row_text(&rows, 0, "id"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}
