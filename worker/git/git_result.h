/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_GIT_RESULT_H
#define WORKER_GIT_GIT_RESULT_H

/* What runyard-git has written, as the result for the scheduler (proto/README.md). Pure. */

#include "common/buf.h"
#include "common/json/json.h"

/* `order` is the claimed job, with the login: its secrets are blackened in all texts. `ended`: the program ended by
 * itself. A new reference. */
json_t *git_result_read(const json_t *order, struct bytes records, bool ended, long long max_mib);

#endif
