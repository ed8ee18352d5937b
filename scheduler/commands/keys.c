/* SPDX-License-Identifier: MPL-2.0 */
/* `keys` shows what each key seals and signs, `rotate-keys` seals everything with the first one. */
#include <stdio.h>

#include "scheduler/commands/command.h"
#include "scheduler/db/schema.h"
#include "scheduler/store/key_rotation.h"

static const struct command_column columns[] = {
	{"KEY", "number", 0},
	{"PLACE", "place", 0},
	{"IN USE", "in-use", 0},
	{"SEALED ROWS", "sealed-rows", 0},
	{"OBJECTS", "objects", 0},
	{"UNREAD OBJECTS", "unread-objects", 0},
	{"RUN TASKS", "run-tasks", 0},
	{"LINKS UNTIL", "links-until", COMMAND_TIME},
	{"CAN GO", "can-go", 0},
	{NULL, NULL, 0},
};

/* Also without a key that is in use, to see what needs it. */
int command_keys(struct scheduler *s, const struct command_line *line, struct err *err)
{
	json_auto_t *report = NULL;

	if (db_check(s->options.database_url, err) < 0 || schema_check(s->store.db, err) < 0 ||
		keys_report(&s->store, &report, err) < 0)
		return -1;
	command_print(line, report, columns);
	return 0;
}

int command_rotate_keys(struct scheduler *s, const struct command_line *line, struct err *err)
{
	long long count = 0;

	(void)line;
	if (scheduler_database_ready(s, err) < 0 || keys_rotate(&s->store, s->objects, &count, err) < 0)
		return -1;
	printf("%lld values were sealed again\n", count);
	return 0;
}
