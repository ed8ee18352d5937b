/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_LETTERS_H
#define SCHEDULER_DISPATCH_LETTERS_H

/*
 * Dead letters: messages that nobody can read, of whichever topic. Who finds one tells runyard.dead-letters of it
 * (proto/README.md); here they are kept, each once, until an operator puts them back or discards them
 * (letters_command.h), and 30 days, 10,000 of them or 256 MiB at the most.
 */

#include "scheduler/dispatch/intake.h"

/* One that this scheduler found: kept, and told of on the topic, in one transaction. */
int letters_put(struct store *store, const struct kafka_message *message, const char *why, struct err *err);
/* An intake's settle, for runyard.dead-letters: keeps what others found. */
int letters_settle(struct intake *intake, const struct kafka_message *messages, size_t count);
/* Forgets those beyond the bounds. */
int letters_sweep(struct store *store, struct err *err);

#endif
