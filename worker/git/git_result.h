/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_GIT_RESULT_H
#define WORKER_GIT_GIT_RESULT_H

/* Makes the result for the scheduler (proto/README.md) from the output of runyard-git. Pure. */

#include "common/buf.h"
#include "common/json/json.h"

/* `order` is the claimed job with the login, whose secrets are removed from all texts. `ended`: the program ended
 * normally. A new reference. */
json_t *git_result_read(const json_t *order, struct bytes records, bool ended, long long max_mib);

#endif
