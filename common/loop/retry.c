/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/retry.h"

#include "common/crypto.h"

/* No try is scheduled closer to the give-up time than this. */
enum { LAST_TRY_MS = 250 };

const struct retry retry_service = {.first_ms = 1000, .max_ms = 60 * 1000, .max_asked_ms = 5 * 60 * 1000};
const struct retry retry_scheduler = {.first_ms = 100, .max_ms = 5 * 1000, .max_asked_ms = 30 * 1000};
/* There are many workers, so they return to a scheduler that is back more slowly. */
static const struct retry retry_worker = {.first_ms = 100, .max_ms = 10 * 1000, .max_asked_ms = 60 * 1000};

static int64_t spread(int64_t ms, uint32_t random)
{
	return ms * 3 / 4 + (int64_t)(random % 1024) * ms / 2048;
}

int64_t retry_wait(const struct retry *retry, int failures, int retry_after_s, uint32_t random)
{
	int64_t wait = retry->first_ms;
	int64_t asked = (int64_t)(retry_after_s > 0 ? retry_after_s : 0) * 1000;

	for (int i = 1; i < failures && wait < retry->max_ms; i++)
		wait *= 2;
	wait = spread(wait < retry->max_ms ? wait : retry->max_ms, random);
	if (asked > retry->max_asked_ms)
		asked = retry->max_asked_ms;
	/* Not before the time asked for, and spread out so that the retries do not coincide. */
	return wait > asked ? wait : asked + (int64_t)(random % 1024) * retry->first_ms / 1024;
}

int64_t retry_at(int64_t wait_ms, int64_t now_ms, int64_t give_up_ms)
{
	int64_t at = now_ms + wait_ms;

	if (give_up_ms - now_ms < LAST_TRY_MS)
		return -1;
	return at < give_up_ms ? at : give_up_ms;
}

uint32_t chance(void)
{
	uint32_t number;

	crypto_random(&number, sizeof(number));
	return number;
}

int64_t jitter(int64_t ms)
{
	return spread(ms, chance());
}

int64_t backoff_next(struct backoff *backoff, int retry_after_s)
{
	return retry_wait(&retry_worker, ++backoff->failures, retry_after_s, chance());
}
