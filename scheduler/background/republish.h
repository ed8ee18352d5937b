/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_REPUBLISH_H
#define SCHEDULER_BACKGROUND_REPUBLISH_H

/* Announces all waiting work again, after the broker has lost its data. The sweeps do the same slowly, and only for
 * workers that have room. */

#include "scheduler/store/store.h"

/* *ret_count: the messages in the outbox, which a scheduler that serves sends. */
int work_republish(struct store *store, long long *ret_count, struct err *err);

#endif
