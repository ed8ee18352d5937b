/* SPDX-License-Identifier: MPL-2.0 */
/* The commands for backups and restores. */
#include <stdio.h>

#include "scheduler/auth/workload/keys.h"
#include "scheduler/background/republish.h"
#include "scheduler/commands/command.h"
#include "scheduler/runs/epoch.h"

static const struct command_column columns[] = {
	{"WORKSPACE", "workspace", 0},
	{"NAME", "name", 0},
	{"ORGANIZATION", "organization", 0},
	{"RUN", "run", 0},
	{"STATUS IN THE BACKUP", "status", 0},
	{"ENDED", "ended", 0},
	{NULL, NULL, 0},
};

int command_restored(struct scheduler *s, const struct command_line *line, struct err *err)
{
	json_auto_t *runs = NULL;

	/* Identities that were made after the backup must not pass for ones of now. */
	if (scheduler_database_ready(s, err) < 0 || epoch_restore(&s->store, &runs, err) < 0 ||
		workload_keys_replace(&s->store, err) < 0)
		return -1;
	if (!line->as_json)
		fprintf(stderr,
			"Runs that may have been applied since the backup. Compare their workspaces with reality:\n");
	command_print(line, runs, columns);
	return 0;
}

int command_backup_mark(struct scheduler *s, const struct command_line *line, struct err *err)
{
	(void)line;
	return scheduler_database_ready(s, err) < 0 ? -1 : store_backup_mark(s->store.db, err);
}

int command_republish(struct scheduler *s, const struct command_line *line, struct err *err)
{
	long long count = 0;

	(void)line;
	if (scheduler_database_ready(s, err) < 0 || work_republish(&s->store, &count, err) < 0)
		return -1;
	printf("%lld messages are to be sent\n", count);
	return 0;
}
