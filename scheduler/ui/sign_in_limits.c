/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/sign_in_limits.h"

#include <stdio.h>

#include "common/clock.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/http/audit_note.h"

struct sign_in_limits sign_in_limits_of(const struct request *req, const char *username)
{
	struct sign_in_limits attempt = {.now = (double)clock_mono_ms() / 1000};

	http_address_key(req->audit->address, attempt.address);
	text_copy_lower(attempt.name, sizeof(attempt.name), username); /* user names are case-insensitive */
	snprintf(attempt.pair, sizeof(attempt.pair), "%s %s", attempt.address, attempt.name);
	return attempt;
}

int sign_in_limits_take(const struct request *req, struct sign_in_limits *attempt, bool *ret_allowed, struct err *err)
{
	*ret_allowed =
		bucket_take(req->services->buckets, LIMIT_SIGN_IN_ADDRESS, attempt->address, attempt->now).taken &&
		bucket_take(req->services->buckets, LIMIT_SIGN_IN_PAIR, attempt->pair, attempt->now).taken;
	if (!*ret_allowed)
		return 0;
	attempt->name_taken =
		bucket_take(req->services->buckets, LIMIT_SIGN_IN_NAME, attempt->name, attempt->now).taken;
	if (attempt->name_taken)
		return 0;
	return session_from(req->store, attempt->name, req->audit->address, ret_allowed, err);
}

void sign_in_limits_return(const struct request *req, const struct sign_in_limits *attempt)
{
	bucket_return(req->services->buckets, LIMIT_SIGN_IN_ADDRESS, attempt->address, attempt->now);
	bucket_return(req->services->buckets, LIMIT_SIGN_IN_PAIR, attempt->pair, attempt->now);
	if (attempt->name_taken)
		bucket_return(req->services->buckets, LIMIT_SIGN_IN_NAME, attempt->name, attempt->now);
}

bool sign_in_address_allowed(const struct request *req)
{
	char address[HTTP_ADDRESS_SIZE];

	http_address_key(req->audit->address, address);
	return bucket_take(req->services->buckets, LIMIT_SIGN_IN_ADDRESS, address, (double)clock_mono_ms() / 1000)
		.taken;
}

void sign_in_address_succeeded(const struct request *req)
{
	char address[HTTP_ADDRESS_SIZE];

	http_address_key(req->audit->address, address);
	bucket_return(req->services->buckets, LIMIT_SIGN_IN_ADDRESS, address, (double)clock_mono_ms() / 1000);
}
