/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/limits.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/guard.h"
#include "scheduler/api/trail.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/signed.h"

/* A moment's rush may be twice what goes on for long. */
enum { BURST = 2, KEY_MOST = 600 };

static const struct bucket_rate rate_of_refusals = {.per_second = 1.0 / 60, .burst = 5};

/* ---- from where ---- */

static const char *trim(char *entry)
{
	entry += strspn(entry, " \t");
	entry[strcspn(entry, " \t")] = '\0';
	return entry;
}

/* Each proxy appends who asked it. What stands before the first one that nobody trusts could be anybody's invention. */
void limits_address(const struct http_request *http, const struct guard *proxies, char *ret_address, size_t size)
{
	_cleanup_(freep) char *list = NULL;
	bool more = true;

	http_address(http, ret_address, size);
	if (!guard_allows(proxies, ret_address))
		return;
	list = mem_text(text_or_empty(http_header_last(http, "X-Forwarded-For")));
	while (more && guard_allows(proxies, ret_address)) {
		char *comma = strrchr(list, ',');
		const char *entry = trim(comma ? comma + 1 : list);

		if (!guard_is_address(entry))
			return;
		text_copy(ret_address, size, entry);
		more = comma != NULL;
		if (comma)
			*comma = '\0';
	}
}

/* ---- how often ---- */

static bool route_counts(const struct route *route)
{
	static const char *const free_of[] = {SIGNED_PREFIX "/", "/api/worker/", "/api/notifier/"};

	for (size_t i = 0; route && i < ARRAY_LEN(free_of); i++)
		if (text_starts(route->pattern, free_of[i]))
			return false;
	return true;
}

static void key_make(const struct request *req, char ret_key[KEY_MOST])
{
	const char *token = http_header(req->http, "Authorization");
	const char *cookie = token ? NULL : http_cookie(req->http, SESSION_COOKIE);

	if (token || cookie)
		snprintf(ret_key, KEY_MOST, "token:%s", token ? token : cookie);
	else
		snprintf(ret_key, KEY_MOST, "address:%s", req->trail->address);
}

static void tell(struct response *res, long long per_second, const struct bucket_level *level)
{
	char limit[24], left[24], wait[24];

	/* go-tfe lets a third of it go at once: of less than 4, nothing at all. */
	enum { LEAST_TOLD = 4 };

	snprintf(limit, sizeof(limit), "%lld", per_second > LEAST_TOLD ? per_second : LEAST_TOLD);
	snprintf(left, sizeof(left), "%lld", (long long)level->left);
	snprintf(wait, sizeof(wait), "%.3f", level->wait > 0 ? level->wait + 0.0005 : 0); /* rounded up */
	http_add_header(res->http, "X-RateLimit-Limit", limit);
	http_add_header(res->http, "X-RateLimit-Remaining", left);
	http_add_header(res->http, "X-RateLimit-Reset", wait);
}

int limits_take(struct request *req, struct response *res, long long per_second, struct err *err)
{
	const struct bucket_rate rate = {.per_second = (double)per_second, .burst = (double)per_second * BURST};
	struct bucket_level level;
	char key[KEY_MOST];

	if (!per_second || !route_counts(req->route))
		return 0;
	key_make(req, key);
	level = bucket_take(req->buckets, key, rate, (double)clock_mono_ms() / 1000);
	tell(res, per_second, &level);
	if (level.taken)
		return 0;
	snprintf(res->http->retry_after, sizeof(res->http->retry_after), "%d", (int)level.wait + 1);
	return err_set(err, ERR_BUSY, "You have exceeded the API's rate limit.");
}

bool limits_note_refusal(const struct request *req)
{
	_cleanup_(freep) char *key = mem_printf("refused-from:%s", req->trail->address);

	return bucket_take(req->buckets, key, rate_of_refusals, (double)clock_mono_ms() / 1000).taken;
}
