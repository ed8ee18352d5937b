/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_COMMANDS_H
#define SCHEDULER_COMMANDS_H

/* The subcommands of runyard-scheduler: the table commands/commands.def, and the arguments of each. */

#include "scheduler/scheduler.h"

/* Runs the command that the arguments begin with; without arguments: serve. ERR_INVALID for unknown or wrong ones. */
int command_run(struct scheduler *s, int argc, char **argv, struct err *err);
/* Prints the usage of a command if --help is its last argument, and returns true. It needs no options. */
bool command_help(int argc, char **argv);

#endif
