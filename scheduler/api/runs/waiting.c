/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/runs.h"

/* Why a run waits. */

int run_wait_read(struct request *req, const char *run_id, struct run_wait *ret_wait, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct run_waits waits = {.items = ret_wait, .room = 1};

	db_array_add(&ids, run_id);
	if (waits_read(req->store, &ids, &waits, err) < 0)
		return -1;
	return waits.count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

int runs_waiting(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT;
	struct run_wait wait;

	if (run_in_path(req, &run, err) < 0 || run_wait_read(req, row_text(&run, 0, "id"), &wait, err) < 0)
		return -1;
	return respond_resource(res, 200,
		resource_new("run-waits", wait.run.text,
			json_pack("{ss ss so so}", "reason", wait_name(wait.kind), "description", wait.text, "since",
				json_string_or_null(*wait.since ? wait.since : NULL), "position",
				wait.position ? json_integer(wait.position) : json_null()),
			json_pack("{so}", "run", to_one("runs", wait.run.text))));
}
