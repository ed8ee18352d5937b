/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_LETTERS_COMMAND_H
#define SCHEDULER_DISPATCH_LETTERS_COMMAND_H

#include "scheduler/store/store.h"

/*
 * runyard-scheduler dead-letters [--json]            lists them, the newest last: a table, or one JSON object a line
 * runyard-scheduler dead-letters show ID             one of them, whole
 * runyard-scheduler dead-letters replay ID|all       puts one, or all that were not yet, back on their topics
 * runyard-scheduler dead-letters discard ID|all      forgets one, or all
 */
int letters_command(struct store *store, int argc, char **argv, struct err *err);

#endif
