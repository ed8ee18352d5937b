/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_LAG_LAG_WATCH_H
#define SCHEDULER_BACKGROUND_LAG_LAG_WATCH_H

/*
 * The thread that exports the lag of all topics. It starts a process that measures the lag and keeps it true
 * (lag_keeper.h): while /metrics is read, every 10 s, otherwise every 60 s, or every 10 minutes while there is no lag
 * and this scheduler sends no message. A process that takes long delays the next.
 */

#include "common/base.h"

struct err;
struct lag_watch;

/* `command`: the arguments of this program that run the command `keep-lag`, terminated by NULL. Borrowed for good. */
int lag_watch_start(char *const *command, struct lag_watch **ret_watch, struct err *err);
/* NULL-safe. Ends a process under way. */
void lag_watch_stop(struct lag_watch *watch);
/* The messages of all topics that their groups have not committed, which is the sum of runyard_kafka_topic_lag. -1:
 * nothing was measured in this process within two minutes, or 20 if there was no lag and it has sent no message
 * since. */
long long lag_watch_total(void);

#endif
