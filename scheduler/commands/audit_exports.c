/* SPDX-License-Identifier: MPL-2.0 */
/* `audit-exports` shows the collectors of the audit trail, `audit-exports end NAME` ends an export. */
#include "scheduler/background/audit/audit_exports.h"

#include "scheduler/background/audit/audit_exports.sql.h"
#include "scheduler/commands/command.h"
#include "scheduler/store/access/audit.h"

static const struct command_column columns[] = {
	{"EXPORT", "export", 0},
	{"UNSENT", "unsent", 0},
	{"OLDEST", "oldest", COMMAND_TIME},
	{"LAST SENT", "sent", COMMAND_TIME},
	{"ERROR", "error", 0},
	{NULL, NULL, 0},
};

static int exports_show(struct store *store, const struct command_line *line, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *items = json_array();

	if (audit_sinks_list(store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct audit_sink_row *sink = row_of(audit_sink, &rows, i);

		json_array_append_new(items,
			json_pack("{ss sI so so so}", "export", sink->name, "unsent", (json_int_t)sink->unsent,
				"oldest", json_string_or_null(sink->oldest_at), "sent",
				json_string_or_null(sink->sent_at), "error",
				json_string_or_null(text_or_null(sink->error))));
	}
	command_print(line, items, columns);
	return 0;
}

struct ending {
	struct store *store;
	const char *sink;
};

static int end_in(void *data, struct err *err)
{
	const struct ending *e = data;
	const struct audit_event event = {.action = "destroy", .resource_type = "audit_export", .resource_id = e->sink};

	return audit_sink_end(e->store, e->sink, err) < 0 ? -1 : audit_write_system(e->store, &event, err);
}

int command_audit_exports(struct scheduler *s, const struct command_line *line, struct err *err)
{
	struct ending ending = {&s->store, line->count == 2 ? line->arguments[1] : NULL};

	if (!line->count)
		return exports_show(&s->store, line, err);
	if (line->count != 2 || !text_equal(line->arguments[0], "end"))
		return command_usage(line, err);
	return db_transaction(s->store.db, end_in, &ending, err) < 0 ? -1 : exports_show(&s->store, line, err);
}
