/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SITE_TIMEOUTS_H
#define SCHEDULER_API_SITE_TIMEOUTS_H

/* Time limits of plans and applies, which site admins set for an organization or for all: `plan-timeout` and
 * `apply-timeout`. They are durations such as "2h" or "1h30m". Older clients prefix the names with
 * `terraform-build-worker-`. */

#include "scheduler/api/api.h"

/* Adds the limits in the body to `set`: the text, and its seconds as "plan-seconds" and "apply-seconds" (0: none).
 * ERR_INVALID with a pointer if a text is not a duration. */
int timeouts_read(const struct request *req, json_t *set, struct err *err);
/* Adds both limits, each under both names. */
void timeouts_show(const json_t *set, json_t *attributes);

#endif
