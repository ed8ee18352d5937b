/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_COMMANDS_H
#define SCHEDULER_COMMANDS_H

/* The subcommands of runyard-scheduler. */

#include "scheduler/scheduler.h"

/* Runs the command that the arguments begin with; without arguments: serve. ERR_INVALID for unknown or wrong ones. */
int command_run(struct scheduler *s, int argc, char **argv, struct err *err);

#endif
