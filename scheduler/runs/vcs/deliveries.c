/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/deliveries.h"

#include <strings.h>

#include "common/log.h"
#include "common/vcs/operation.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events/deliveries.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/vcs/payload.h"

enum {
	BODY_LIMIT = 26 << 20,
	RENAMED_TRIES = 8,
	STORED_EVENTS = 1000, /* stored by one statement, and at most VCS_EVENTS_MAX more */
};

/* A batch while it is read. Its events are stored by one statement, and its deliveries are ended by another. */
struct reading {
	struct store *store;
	struct rows rows;
	int max;
	json_t *events;       /* rows for vcs_event_rows_insert */
	struct db_array read; /* the sequences of deliveries that were read */
};

static void results_release(struct reading *r)
{
	json_decref(r->events);
	db_array_release(&r->read);
}

static void results_reset(struct reading *r)
{
	results_release(r);
	r->events = json_array();
	r->read = (struct db_array)DB_ARRAY_INIT;
}

static int results_store(struct reading *r, struct err *err)
{
	if (vcs_event_rows_insert(r->store, r->events, err) < 0 || vcs_deliveries_end(r->store, &r->read, err) < 0)
		return -1;
	results_reset(r);
	return 0;
}

/* The provider's id stays when a repository is renamed. A repository that was made anew has the name, and another id.
 */
static bool is_about(const struct vcs_deliveries_pick_row *row, const struct vcs_event *event)
{
	const char *name = text_or_empty(event->repository), *id = text_or_empty(event->repository_id);

	return !*name || strcasecmp(name, row->identifier) == 0 || (*id && text_equal(id, row->external_id));
}

static enum vcs_dialect dialect_of(const struct vcs_deliveries_pick_row *row)
{
	return vcs_dialect_named(row->provider, row->api_url);
}

/* Earlier events are stored first, so that the events of a repository keep the order of its deliveries. */
static int unreadable_note(
	struct reading *r, const struct vcs_deliveries_pick_row *row, const char *why, struct err *err)
{
	if (results_store(r, err) < 0)
		return -1;
	return vcs_event_unreadable(r->store, row->repository_id, row->sequence, why, err);
}

/* The payload's events are dropped. A look finds the changes of this repository. */
static int stranger_note(struct reading *r, const struct vcs_deliveries_pick_row *row, struct err *err)
{
	if (unreadable_note(r, row, "it is about another repository.", err) < 0)
		return -1;
	return vcs_look_now(r->store, row->repository_id, err);
}

static int events_add(
	struct reading *r, const struct vcs_deliveries_pick_row *row, const struct vcs_events *events, struct err *err)
{
	const struct vcs_origin origin = {
		.repository_id = row->repository_id, .found_by = "webhook", .delivery = row->sequence};

	for (size_t i = 0; i < events->count; i++)
		if (!is_about(row, &events->items[i]))
			return stranger_note(r, row, err);
	vcs_event_rows_add(r->events, &origin, events->items, events->count);
	return 0;
}

static int events_keep(
	struct reading *r, const struct vcs_deliveries_pick_row *row, const struct vcs_events *events, struct err *err)
{
	if (events_add(r, row, events, err) < 0)
		return -1;
	db_array_add_int(&r->read, row->sequence);
	return json_array_size(r->events) < STORED_EVENTS ? 0 : results_store(r, err);
}

/* -1 with *ret_why: the delivery can't be read. */
static int payload_read(const struct reading *r, const struct vcs_deliveries_pick_row *row,
	struct vcs_events *ret_events, struct err *ret_why)
{
	_cleanup_(buf_release) struct buf body = BUF_INIT(BODY_LIMIT);
	_cleanup_(json_document_release) struct json_document payload = JSON_NO_DOCUMENT;

	if (vcs_delivery_open(r->store, row, &body, ret_why) < 0 ||
		json_document_parse(&payload, buf_str(&body), body.len, ret_why) < 0)
		return -1;
	return vcs_payload_read(dialect_of(row), row->event, payload.value, ret_events, ret_why);
}

/*
 * True if the payload has another name for the repository than the database. The name may be newer, since not every
 * provider sends an event when a repository is renamed, or older. git needs the current name. So the scheduler requests
 * it from the provider, and the delivery waits for RENAMED_TRIES rounds at most.
 */
static bool is_renamed(const struct vcs_deliveries_pick_row *row, const struct vcs_events *events)
{
	const struct vcs_event *event = events->items;
	const char *known = row->external_id;

	return events->count && event->kind != VCS_RENAME && known && text_equal(event->repository_id, known) &&
		*event->repository && strcasecmp(event->repository, row->identifier) != 0 &&
		vcs_operation_exists(dialect_of(row), VCS_OP_LOCATE) && row->tries < RENAMED_TRIES;
}

static int name_ask(const struct reading *r, const struct vcs_deliveries_pick_row *row, struct err *err)
{
	if (vcs_repository_doubt(r->store, row->repository_id, err) < 0)
		return -1;
	return vcs_delivery_postpone(r->store, row->sequence,
		"The delivery waits until the provider has returned the repository's current name.", err);
}

/* No foreign key prevents that a delivery is stored while its repository is deleted. */
static int delivery_read(struct reading *r, const struct vcs_deliveries_pick_row *row, struct err *err)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	long long sequence = row->sequence;
	struct err why = ERR_INIT;
	int result;

	if (!row->identifier)
		return vcs_delivery_drop(r->store, sequence, err);
	result = payload_read(r, row, &events, &why);
	if (result == 0 && is_renamed(row, &events))
		return name_ask(r, row, err);
	if (result == 0)
		return events_keep(r, row, &events, err);
	if (why.kind == ERR_UNAVAILABLE)
		return vcs_delivery_postpone(r->store, sequence, why.message, err);
	log_warn("a delivery of a VCS provider can't be read", "delivery", row->delivery_id, "repository",
		row->repository_id, "why", why.message, NULL);
	if (unreadable_note(r, row, why.message, err) < 0)
		return -1;
	return vcs_delivery_fail(r->store, sequence, why.message, err);
}

static int read_in(void *data, struct err *err)
{
	struct reading *r = data;

	rows_release(&r->rows);
	r->rows = (struct rows)ROWS_INIT;
	results_reset(r);
	if (vcs_deliveries_pick(r->store, r->max, &r->rows, err) < 0)
		return -1;
	for (int i = 0; i < r->rows.count; i++)
		if (delivery_read(r, row_of(vcs_deliveries_pick, &r->rows, i), err) < 0)
			return -1;
	return results_store(r, err);
}

/* Reads the oldest delivery alone, after its batch has failed. If it fails again, it is postponed, so that it does not
 * block the deliveries of other repositories. */
static int oldest_read(struct reading *r, struct err *err)
{
	const struct vcs_deliveries_pick_row *oldest;
	struct err why = ERR_INIT;

	r->max = 1;
	if (db_transaction(r->store->db, read_in, r, &why) == 0)
		return 0;
	if (why.kind == ERR_UNAVAILABLE || !r->rows.count) {
		*err = why;
		return -1;
	}
	oldest = row_of(vcs_deliveries_pick, &r->rows, 0);
	log_error("a delivery can't be stored as events and is tried again", "delivery", oldest->delivery_id,
		"repository", oldest->repository_id, "error", why.message, NULL);
	return vcs_delivery_postpone(r->store, oldest->sequence, why.message, err);
}

int vcs_deliveries_read(struct store *store, bool *ret_more, struct err *err)
{
	struct reading r = {.store = store, .rows = ROWS_INIT, .max = VCS_DELIVERIES_MAX, .read = DB_ARRAY_INIT};
	struct err why = ERR_INIT;
	int result = db_transaction(store->db, read_in, &r, &why);

	if (result < 0 && why.kind != ERR_UNAVAILABLE && r.rows.count)
		result = oldest_read(&r, err);
	else if (result < 0)
		*err = why;
	*ret_more = result == 0 && r.rows.count > 0;
	rows_release(&r.rows);
	results_release(&r);
	return result;
}
