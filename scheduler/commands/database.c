/* SPDX-License-Identifier: MPL-2.0 */
/* The commands for the database as a whole. */
#include "scheduler/commands/command.h"
#include "scheduler/runs/epoch.h"

int command_migrate(struct scheduler *s, const struct command_line *line, struct err *err)
{
	(void)line;
	return scheduler_database_ready(s, err);
}

/* For an operator who restored the database in a way that its history does not show. */
int command_new_epoch(struct scheduler *s, const struct command_line *line, struct err *err)
{
	(void)line;
	return scheduler_database_ready(s, err) < 0 ? -1 : epoch_begin(&s->store, err);
}
