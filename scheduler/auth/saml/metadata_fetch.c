/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/saml/metadata_fetch.h"

#include "common/err.h"
#include "scheduler/auth/vcs/provider_request.h"

/* The answer is not shown: it may come from a host that only this machine reaches. */
static int outcome(const struct provider_answer *answer, struct err *err)
{
	if (answer->too_large)
		return err_set(err, ERR_INVALID, "The metadata is larger than 256 KiB");
	if (!answer->status)
		return err_set(err, ERR_INVALID, "The metadata can't be read: %s", answer->why);
	if (answer->status >= 300 && answer->status < 400)
		return err_set(
			err, ERR_INVALID, "The metadata's address answers with a redirect, which is not followed");
	return answer->status == 200
		? 0
		: err_set(err, ERR_INVALID, "The metadata's address answers with the status %d", answer->status);
}

int metadata_fetch(const struct guard *guard, const char *url, struct buf *ret_document, struct err *err)
{
	const struct provider_request request = {.method = "GET", .url = url, .document = ret_document};
	struct provider_answer answer;

	provider_request_send(guard, &request, &answer);
	return outcome(&answer, err);
}
