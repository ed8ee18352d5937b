/* SPDX-License-Identifier: MPL-2.0 */
/* The commands for the database as a whole. */
#include "scheduler/commands/command.h"
#include "scheduler/db/schema.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/store/workers/processes.h"

/* Waits for PostgreSQL and for locks, whatever --migrate says. */
int command_migrate(struct scheduler *s, const struct command_line *line, struct err *err)
{
	bool contract = command_option(line, "contract") != NULL;

	if (command_option(line, "plan"))
		return db_check(s->options.database_url, err) < 0 ? -1 : schema_plan(s->store.db, stdout, err);
	s->options.migrate = 1;
	if (scheduler_database_ready(s, err) < 0)
		return -1;
	if (!contract)
		return 0;
	if (processes_check_older(&s->store, err) < 0)
		return err_context(err, "migrate --contract");
	s->contract = true;
	return scheduler_database_ready(s, err);
}

/* For an operator who restored the database in a way that its history does not show. */
int command_new_epoch(struct scheduler *s, const struct command_line *line, struct err *err)
{
	(void)line;
	return scheduler_database_ready(s, err) < 0 ? -1 : epoch_begin(&s->store, err);
}
