/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/runs.h"

/* Why a run waits. */

static json_t *links_shown(const struct wait_text *text)
{
	json_t *links = json_array();

	for (size_t i = 0; i < text->link_count; i++) {
		const struct wait_link *link = &text->links[i];

		json_array_append_new(links,
			json_pack("{so ss}", "text", json_stringn_nocheck(text->text + link->start, link->len), "href",
				link->address));
	}
	return links;
}

json_t *wait_shown(const struct run_wait *wait)
{
	return json_pack("{ss ss so so so so}", "code", wait_code(wait->kind), "text", wait->text.text, "since",
		json_string_or_null(*wait->since ? wait->since : NULL), "eta",
		json_string_or_null(*wait->eta ? wait->eta : NULL), "position",
		wait->position ? json_integer(wait->position) : json_null(), "links", links_shown(&wait->text));
}

static int wait_make(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	struct run_wait wait;

	(void)err;
	wait_of_row(store, of_row, &wait);
	*ret_resource = resource_new("run-waits", wait.run.text, wait_shown(&wait), NULL);
	return 0;
}

const struct resource_kind kind_run_waits = {.type = "run-waits", .ask = waits_ask, .make = wait_make};

int runs_waiting(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows run = ROWS_INIT, wait = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	if (run_in_path(req, &run, err) < 0)
		return -1;
	db_array_add(&ids, run_of(&run)->id);
	if (kind_read(req->store, &kind_run_waits, &ids, &wait, err) < 0)
		return -1;
	if (!wait.count)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	return respond_row(req, res, 200, &(struct resource_rows){&kind_run_waits, &wait}, err);
}
