/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_INTAKE_DEAD_LETTERS_COMMAND_H
#define SCHEDULER_INTAKE_DEAD_LETTERS_COMMAND_H

#include "scheduler/store/store.h"

/*
 * The operator's command for dead letters:
 *
 *  - `dead-letters [--json]` lists them, the newest last: a table, or one JSON object per line.
 *  - `dead-letters show ID` prints one in full.
 *  - `dead-letters replay ID|all` puts one, or all that were not replayed yet, back on their topics.
 *  - `dead-letters discard ID|all` deletes one, or all.
 */
int dead_letters_command(struct store *store, int argc, char **argv, struct err *err);

#endif
