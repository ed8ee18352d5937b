/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/limits.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/http/http_clients.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"

static bool route_counts(const struct route *route)
{
	static const char signed_paths[] = SIGNED_PREFIX "/";
	static const char *const free_of[] = {
		signed_paths, "/api/worker/", "/api/notifier/", "/assets/", "/webhooks/vcs/"};

	/* A service may send the callbacks of all its runs at once, each with another token, and may not retry them. */
	if (route && route->permission == CAN_CALL_BACK)
		return false;
	for (size_t i = 0; route && i < ARRAY_LEN(free_of); i++)
		if (text_starts(route->pattern, free_of[i]))
			return false;
	return true;
}

/* The token without its scheme, or the session's cookie. NULL if there is neither. */
static const char *proof_of(const struct request *req)
{
	return http_header(req->http, "Authorization") ? req->bearer : http_cookie(req->http, SESSION_COOKIE);
}

static double seconds_now(void)
{
	return (double)clock_mono_ms() / 1000;
}

static void rate_limit_headers_add(struct response *res, long long per_second, const struct bucket_level *level)
{
	char limit[24], left[24], wait[24];

	/* go-tfe allows a burst of a third of the limit: below 4, that is no request at all. */
	enum { MIN_REPORTED = 4 };

	snprintf(limit, sizeof(limit), "%lld", per_second > MIN_REPORTED ? per_second : MIN_REPORTED);
	snprintf(left, sizeof(left), "%lld", (long long)level->left);
	snprintf(wait, sizeof(wait), "%.3f", level->wait > 0 ? level->wait + 0.0005 : 0); /* rounded up */
	http_add_header(res->http, "X-RateLimit-Limit", limit);
	http_add_header(res->http, "X-RateLimit-Remaining", left);
	http_add_header(res->http, "X-RateLimit-Reset", wait);
}

/* A token that has not authenticated yet counts against its address, so that invented tokens get no buckets. */
static struct bucket_level level_take(struct request *req)
{
	const char *proof = proof_of(req);
	struct bucket_level level;
	char key[HTTP_ADDRESS_SIZE];

	if (proof && bucket_take_known(req->services->buckets, LIMIT_TOKENS, proof, seconds_now(), &level))
		return level;
	http_address_key(req->audit->address, key);
	req->counted_by_address = true;
	return bucket_take(req->services->buckets, LIMIT_ADDRESSES, key, seconds_now());
}

int limits_take(struct request *req, struct response *res, long long per_second, struct err *err)
{
	struct bucket_level level;

	if (!per_second || !route_counts(req->route))
		return 0;
	buckets_set_requests(req->services->buckets, per_second);
	level = level_take(req);
	rate_limit_headers_add(res, per_second, &level);
	if (level.taken)
		return 0;
	snprintf(res->http->retry_after, sizeof(res->http->retry_after), "%d", (int)level.wait + 1);
	return err_set(err, ERR_BUSY, "You have exceeded the API's rate limit.");
}

void limits_note_authenticated(struct request *req)
{
	const char *proof = proof_of(req);
	char key[HTTP_ADDRESS_SIZE];

	if (!proof || !req->counted_by_address || req->actor.kind == ACTOR_NONE)
		return;
	http_address_key(req->audit->address, key);
	bucket_take(req->services->buckets, LIMIT_TOKENS, proof, seconds_now());
	bucket_return(req->services->buckets, LIMIT_ADDRESSES, key, seconds_now());
	req->counted_by_address = false;
}

bool limits_note_refusal(const struct request *req)
{
	char key[HTTP_ADDRESS_SIZE];

	http_address_key(req->audit->address, key);
	return bucket_take(req->services->buckets, LIMIT_REFUSALS, key, seconds_now()).taken;
}
