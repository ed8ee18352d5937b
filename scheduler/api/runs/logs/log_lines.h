/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_LOGS_LOG_LINES_H
#define SCHEDULER_API_RUNS_LOGS_LOG_LINES_H

/* A log as JSON lines. A line that is a JSON object stays as it is; any other becomes {"@message": line}, in which
 * bytes that are not UTF-8 are replaced. Empty lines are left out. */

#include "common/buf.h"

void log_lines_json(const char *bytes, size_t len, struct buf *out);

#endif
