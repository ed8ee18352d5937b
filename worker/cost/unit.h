/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_UNIT_H
#define WORKER_COST_UNIT_H

/* Units of prices. Every estimate is for one month of 730 hours, as in the clouds' own calculators. */

struct unit {
	const char *name;
	long long a_month; /* how many of the units a month has */
};

#define UNIT_NAMES "hour, month, GB-month"

/* NULL for an unknown name or NULL. */
const struct unit *unit_find(const char *name);

#endif
