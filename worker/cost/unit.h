/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_UNIT_H
#define WORKER_COST_UNIT_H

/* What a price is for. Every estimate is of one month of 730 hours, as the clouds' own calculators have it. */

struct unit {
	const char *name;
	long long a_month; /* how many of them a month has */
};

#define UNIT_NAMES "hour, month, GB-month"

/* NULL for an unknown name or NULL. */
const struct unit *unit_find(const char *name);

#endif
