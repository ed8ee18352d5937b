/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_LETTERS_H
#define SCHEDULER_DISPATCH_LETTERS_H

/* Dead letters: messages that could not be taken in, kept with the reason until an operator replays or forgets them. */

#include "common/kafka.h"
#include "scheduler/store/store.h"

int letters_put(struct store *store, const struct kafka_message *message, const char *why, struct err *err);
/* Prints them, the newest last, one JSON object a line. */
int letters_print(struct store *store, struct err *err);
/* Puts one back on its topic, through the outbox. ERR_NOT_FOUND. */
int letters_replay(struct store *store, long long id, struct err *err);

#endif
