/* SPDX-License-Identifier: MPL-2.0 */
/* `workload-keys` shows and changes the keys that sign the identities of runs. */
#include "scheduler/auth/workload/keys.h"
#include "scheduler/commands/command.h"

static const struct command_column columns[] = {
	{"KEY", "id", 0},
	{"SIGNS FROM", "signs-from", COMMAND_TIME},
	{"STATE", "state", 0},
	{NULL, NULL, 0},
};

static const struct {
	const char *word;
	int (*act)(struct store *store, struct err *err);
} actions[] = {
	{"rotate", workload_keys_rotate},
	{"replace", workload_keys_replace},
};

int command_workload_keys(struct scheduler *s, const struct command_line *line, struct err *err)
{
	json_auto_t *keys = NULL;
	size_t action = 0;

	if (scheduler_database_ready(s, err) < 0)
		return -1;
	while (line->count && action < ARRAY_LEN(actions) && !text_equal(line->arguments[0], actions[action].word))
		action++;
	if (action == ARRAY_LEN(actions))
		return command_usage(line, err);
	if ((line->count && actions[action].act(&s->store, err) < 0) || workload_keys_list(&s->store, &keys, err) < 0)
		return -1;
	command_print(line, keys, columns);
	return 0;
}
