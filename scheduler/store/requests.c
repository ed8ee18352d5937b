/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/requests.h"

#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/requests.sql.h"
#include "scheduler/store/tasks/task_calls.h"
#include "scheduler/store/vcs/calls/calls.h"

bool requests_have(const json_t *ids, const char *prefix)
{
	const json_t *item;
	size_t i;

	json_array_foreach(ids, i, item)
	{
		const char *id = json_is_object(item) ? json_string_at(item, "id") : json_string_value(item);

		if (id && text_starts(id, prefix))
			return true;
	}
	return false;
}

/* ---- claim ---- */

struct claiming {
	struct store *store;
	const struct request_claim *claim;
	json_t *requests;
};

/* Claims run tasks first, since runs wait for them. */
static int claim_in(void *data, struct err *err)
{
	struct claiming *c = data;
	struct request_claim rest = *c->claim;
	bool any = !json_array_size(rest.ids);

	json_array_clear(c->requests);
	if ((any || requests_have(rest.ids, "taskrs-")) && task_calls_claim(c->store, c->claim, c->requests, err) < 0)
		return -1;
	rest.max -= (int)json_array_size(c->requests);
	if (rest.max > 0 && (any || requests_have(rest.ids, "ntf-")) &&
		notifications_claim(c->store, &rest, c->requests, err) < 0)
		return -1;
	rest.max = c->claim->max - (int)json_array_size(c->requests);
	if (rest.max > 0 && rest.calls && (any || requests_have(rest.ids, "vcscall-")))
		return vcs_calls_claim(c->store, &rest, c->requests, err);
	return 0;
}

int requests_claim(struct store *store, const struct request_claim *claim, json_t **ret_requests, struct err *err)
{
	json_auto_t *requests = json_array();
	struct claiming c = {store, claim, requests};

	if (db_transaction(store->db, claim_in, &c, err) < 0)
		return -1;
	*ret_requests = json_incref(requests);
	return 0;
}

/* ---- during delivery ---- */

int requests_beat(struct store *store, const char *notifier, const json_t *held, json_t **ret_held, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(held);

	if (db_query(store->db, &rows, err, requests_beat, .held = text, .notifier = notifier,
		    .lease_seconds = store->settings->lease_seconds) < 0)
		return -1;
	*ret_held = json_array();
	for (int i = 0; i < rows.count; i++) {
		const struct requests_beat_row *row = row_of(requests_beat, &rows, i);

		json_array_append_new(*ret_held,
			json_pack("{ss si sb}", "id", row->id, "attempt", (int)row->attempt, "held", row->held));
	}
	return 0;
}

int requests_release(struct store *store, const char *notifier, const json_t *released, struct err *err)
{
	_cleanup_(freep) char *text = json_text(released);

	return db_query(store->db, NULL, err, requests_release, .released = text, .notifier = notifier);
}
