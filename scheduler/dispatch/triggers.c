/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/triggers.h"

#include "common/log.h"
#include "scheduler/dispatch/order.h"
#include "scheduler/store/run_events.h"
#include "scheduler/store/run_triggers.h"

static int trigger_note(struct store *store, const struct rows *rows, int row, const char *what, struct err *err)
{
	const char *run = row_text(rows, row, "run_id"), *workspace = row_text(rows, row, "workspace_name");
	_cleanup_(freep) char *text = mem_printf("%s: %s", workspace, what);

	log_info("run trigger", "run", run, "workspace", row_text(rows, row, "workspace_id"), "outcome", what, NULL);
	return run_event_describe(store, run, "run-trigger", text, err);
}

static int trigger_fire(struct store *store, const struct rows *rows, int row, struct err *err)
{
	const char *run = row_text(rows, row, "run_id");
	_cleanup_(freep) char *message =
		mem_printf("Triggered by %s in workspace %s", run, row_text(rows, row, "source_name"));
	struct run_order order = {
		.workspace_id = row_text(rows, row, "workspace_id"),
		.message = message,
		.source = "tfe-run-trigger",
		.trigger_reason = "run_trigger",
		.plan_only = CHOICE_NO,
		.auto_apply = row_bool(rows, row, "auto_apply") ? CHOICE_YES : CHOICE_NO,
	};
	struct err refused = ERR_INIT;
	struct id id;

	if (run_create(store, &order, &id, &refused) == 0)
		return trigger_note(store, rows, row, id.text, err);
	if (refused.kind == ERR_INVALID)
		return trigger_note(store, rows, row, refused.message, err);
	*err = refused;
	return -1;
}

int triggers_fire(struct store *store, const struct happening *items, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array applied = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < count; i++)
		if (items[i].applied)
			db_array_add(&applied, items[i].run.text);
	if (!applied.count)
		return 0;
	if (run_triggers_of(store, &applied, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (trigger_fire(store, &rows, i, err) < 0)
			return -1;
	return 0;
}
