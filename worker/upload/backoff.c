/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/backoff.h"

#include "common/crypto.h"

enum { FIRST_MS = 100, MAX_MS = 10 * 1000, MAX_ASKED_S = 60 };

int64_t jitter(int64_t ms)
{
	uint32_t random;

	crypto_random(&random, sizeof(random));
	return ms * 3 / 4 + (int64_t)(random % 1024) * ms / 2048;
}

int64_t backoff_next(struct backoff *backoff, int retry_after)
{
	int64_t asked = (int64_t)(retry_after < MAX_ASKED_S ? retry_after : MAX_ASKED_S) * 1000;

	backoff->wait_ms = backoff->wait_ms ? backoff->wait_ms * 2 : FIRST_MS;
	if (backoff->wait_ms > MAX_MS)
		backoff->wait_ms = MAX_MS;
	return jitter(backoff->wait_ms > asked ? backoff->wait_ms : asked);
}

void backoff_reset(struct backoff *backoff)
{
	backoff->wait_ms = 0;
}
