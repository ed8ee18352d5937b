/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_LAG_LAG_PROCESS_H
#define SCHEDULER_BACKGROUND_LAG_LAG_PROCESS_H

/* A process that runs the command `keep-lag`, which librdkafka can end (common/kafka/kafka_groups.h), and its lines. */

#include "common/buf.h"
#include "common/err.h"

enum { LAG_OUTPUT_LIMIT = 64 << 20, LAG_PROCESS_SECONDS = 30 };

/* Runs this program with the arguments, terminated by NULL, and appends what it prints. Ends it after
 * LAG_PROCESS_SECONDS, or once the descriptor `stop` is readable (-1: never). On failure `output` has the lines that
 * were printed before, and the error says how the process ended. */
int lag_process_run(char *const *command, int stop, struct buf *output, struct err *err);

#endif
