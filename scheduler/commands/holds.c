/* SPDX-License-Identifier: MPL-2.0 */
/* `holds` lists the workspaces that are held, `holds release` ends a hold. */
#include <stdio.h>

#include "scheduler/commands/command.h"
#include "scheduler/runs/holds.h"
#include "scheduler/store/runs/holds.sql.h"

static const struct command_column columns[] = {
	{"WORKSPACE", "workspace", 0},
	{"NAME", "name", 0},
	{"ORGANIZATION", "organization", 0},
	{"RUN", "run", 0},
	{"WORKER", "worker", 0},
	{"SINCE", "since", COMMAND_TIME},
	{"UNTIL", "until", COMMAND_TIME},
	{"STOP", "stop", 0},
	{NULL, NULL, 0},
};

static int holds_show(struct store *store, const struct command_line *line, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *holds = json_array();

	if (holds_list(store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct holds_list_row *hold = row_of(holds_list, &rows, i);

		json_array_append_new(holds,
			json_pack("{ss ss ss ss ss ss so ss}", "workspace", hold->workspace_id, "name", hold->workspace,
				"organization", hold->organization, "run", hold->run_id, "worker", hold->worker,
				"since", hold->began_at, "until", json_string_or_null(hold->until), "stop",
				stop_name((enum stop)hold->stop)));
	}
	command_print(line, holds, columns);
	return 0;
}

static int holds_release(struct store *store, const char *workspace_id, const char *reason, struct err *err)
{
	const struct hold_order order = {.event = HOLD_RELEASED, .workspace_id = workspace_id, .reason = reason};
	struct hold_verdict verdict;

	if (hold_order_commit(store, &order, &verdict, err) < 0)
		return -1;
	if (verdict.refused)
		return err_set(err, ERR_NOT_FOUND, "the workspace %s is not held", workspace_id);
	if (verdict.risks)
		fprintf(stderr,
			"warning: the terraform of the lost apply may still run. Until it has ended, runs of %s can "
			"change the same resources. See that its worker is gone.\n",
			workspace_id);
	return 0;
}

int command_holds(struct scheduler *s, const struct command_line *line, struct err *err)
{
	if (!line->count)
		return holds_show(&s->store, line, err);
	if (line->count < 2 || !text_equal(line->arguments[0], "release"))
		return command_usage(line, err);
	return holds_release(&s->store, line->arguments[1], line->count == 3 ? line->arguments[2] : NULL, err);
}
