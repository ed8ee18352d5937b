/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_COMMANDS_TOPICS_H
#define SCHEDULER_COMMANDS_TOPICS_H

#include "scheduler/commands/command.h"

/* Measures the topics, as the command `topics` lists them. A lag that can't be measured is null, and `failure`
 * says why. A new reference. */
int topics_read(struct scheduler *s, json_t **ret_topics, struct err *err);

#endif
