/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/circuit.h"

#include "common/loop/retry.h"

enum { FAILURES = 5, PROBE_MS = 1000 };

static const struct retry rest = {.first_ms = 5 * 1000, .max_ms = 60 * 1000};

const char *const circuit_names[CIRCUIT_STATES] = {"closed", "open", "probing"};

bool circuit_take(struct circuit *circuit, int64_t now_ms)
{
	if (circuit->state == CIRCUIT_OPEN && now_ms >= circuit->until_ms) {
		circuit->state = CIRCUIT_PROBING;
		return true;
	}
	return circuit->state == CIRCUIT_CLOSED;
}

bool circuit_result(struct circuit *circuit, bool well, int64_t now_ms, uint32_t random)
{
	if (well) {
		*circuit = (struct circuit){.state = CIRCUIT_CLOSED};
		return false;
	}
	circuit->failures++;
	/* Requests that were in flight when the circuit opened fail as well. They are no new information. */
	if (circuit->state == CIRCUIT_OPEN || (circuit->state == CIRCUIT_CLOSED && circuit->failures < FAILURES))
		return false;
	circuit->state = CIRCUIT_OPEN;
	circuit->opened++;
	circuit->until_ms = now_ms + retry_wait(&rest, circuit->opened, 0, random);
	return true;
}

void circuit_aborted(struct circuit *circuit, int64_t now_ms)
{
	if (circuit->state != CIRCUIT_PROBING)
		return;
	circuit->state = CIRCUIT_OPEN;
	circuit->until_ms = now_ms;
}

int64_t circuit_wait(const struct circuit *circuit, int64_t now_ms)
{
	if (circuit->state == CIRCUIT_CLOSED)
		return 0;
	if (circuit->state == CIRCUIT_PROBING)
		return PROBE_MS;
	return circuit->until_ms > now_ms ? circuit->until_ms - now_ms : 0;
}
