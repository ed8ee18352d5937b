/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TIMEOUTS_H
#define SCHEDULER_API_TIMEOUTS_H

/* Site admins limit the time of plans and applies, for an organization or for all: `plan-timeout` and `apply-timeout`
 * are durations such as "2h" or "1h30m". An older client puts `terraform-build-worker-` before them. */

#include "scheduler/api/api.h"

/* Adds what the body sets to `set`: the text, and its seconds as "plan-seconds" and "apply-seconds" (0: none).
 * ERR_INVALID with a pointer for what is no duration. */
int timeouts_read(const struct request *req, json_t *set, struct err *err);
/* Adds both, each under both names. */
void timeouts_show(const json_t *set, json_t *attributes);

#endif
