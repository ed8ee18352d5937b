/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_INTAKE_DEAD_LETTERS_H
#define SCHEDULER_INTAKE_DEAD_LETTERS_H

/*
 * Dead letters: messages of any topic that cannot be read. The process that finds one publishes it to
 * runyard.dead-letters (proto/README.md, dead_letters_topic.h). The schedulers store each once, until an operator
 * replays or discards it (commands/dead_letters.c). The bounds are 30 days, 10,000 dead letters and 256 MiB.
 */

#include "common/kafka/kafka.h"
#include "proto/messages.h"
#include "scheduler/store/store.h"

/* Stores a dead letter that this scheduler detected and publishes it on the topic, in one transaction. */
int dead_letters_put(struct store *store, const struct kafka_message *message, const char *why, struct err *err);
/* Stores a dead letter that another process detected. */
int dead_letters_store(struct store *store, const struct dead_letter *letter, struct err *err);
/* Deletes the dead letters beyond the bounds. */
int dead_letters_sweep(struct store *store, struct err *err);

#endif
