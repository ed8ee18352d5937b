/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_INTAKE_DEAD_LETTERS_TOPIC_H
#define SCHEDULER_INTAKE_DEAD_LETTERS_TOPIC_H

/* The reader of runyard.dead-letters. */

#include "scheduler/intake/intake.h"

/* Stores the dead letters that other processes detected. */
int dead_letters_topic_settle(struct intake *intake, const struct kafka_message *messages, size_t count);

#endif
