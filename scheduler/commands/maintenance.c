/* SPDX-License-Identifier: MPL-2.0 */
/* `maintenance` shows the site's maintenance, `maintenance on REASON` and `maintenance off` switch it. */
#include "scheduler/store/maintenance.h"

#include "scheduler/commands/command.h"
#include "scheduler/store/access/audit.h"

static const struct command_column columns[] = {
	{"MAINTENANCE", "enabled", 0},
	{"SINCE", "since", COMMAND_TIME},
	{"REASON", "reason", 0},
	{NULL, NULL, 0},
};

static int maintenance_show(struct store *store, const struct command_line *line, struct err *err)
{
	struct maintenance maintenance;
	json_auto_t *items = json_array();

	if (maintenance_read(store, &maintenance, err) < 0)
		return -1;
	json_array_append_new(items,
		json_pack("{sb so so}", "enabled", maintenance.on, "since",
			json_string_or_null(maintenance.on ? maintenance.since : NULL), "reason",
			json_string_or_null(maintenance.on ? maintenance.reason : NULL)));
	command_print(line, items, columns);
	return 0;
}

struct switching {
	struct store *store;
	const char *reason;
};

static int switch_in(void *data, struct err *err)
{
	const struct switching *s = data;
	const struct audit_event event = {
		.action = "update", .resource_type = "maintenance", .resource_id = "maintenance"};

	return maintenance_set(s->store, s->reason, err) < 0 ? -1 : audit_write_system(s->store, &event, err);
}

int command_maintenance(struct scheduler *s, const struct command_line *line, struct err *err)
{
	struct switching switching = {&s->store, line->count == 2 ? line->arguments[1] : NULL};
	bool on = text_equal(line->arguments[0], "on");

	if (!line->count)
		return maintenance_show(&s->store, line, err);
	if (line->count != (on ? 2 : 1) || (!on && !text_equal(line->arguments[0], "off")))
		return command_usage(line, err);
	return db_transaction(s->store.db, switch_in, &switching, err) < 0 ? -1
									   : maintenance_show(&s->store, line, err);
}
