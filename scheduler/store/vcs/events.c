/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events.h"

#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events.sql.h"
#include "scheduler/store/vcs/git_jobs.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/github_app.h"

enum { MAX_EXPIRED = 1000, POSTPONED_SECONDS = 15 };

/* ---- new events ---- */

/* The members of a request are those of the event's detail, too. */
static json_t *request_detail(const struct vcs_request *request)
{
	json_t *detail = json_pack("{ss}", "subject", request->subject_id);

	if (request->actor)
		json_object_set_new(detail, "actor", json_string(request->actor));
	if (request->again)
		json_object_set_new(detail, "again", json_true());
	return detail;
}

int vcs_event_request(struct store *store, const struct vcs_request *request, struct id *ret_id, struct err *err)
{
	json_auto_t *detail = request_detail(request);
	_cleanup_(freep) char *text = json_text(detail);
	struct id id = id_new("ve");

	if (db_query(store->db, NULL, err, vcs_event_request, .id = id.text, .repository_id = request->repository_id,
		    .sha = request->sha, .detail = text) < 0 ||
		vcs_look_now(store, request->repository_id, err) < 0)
		return -1;
	*ret_id = id;
	return vcs_wake(store, err);
}

static json_t *event_row(const struct vcs_origin *origin, const struct vcs_event *event)
{
	json_t *row = json_pack("{ss ss ss ss ss ss ss so}", "id", id_new("ve").text, "repository_id",
		origin->repository_id, "found_by", origin->found_by, "kind", vcs_event_names[event->kind], "ref",
		text_or_empty(event->ref), "before_sha", text_or_empty(event->before), "sha", text_or_empty(event->sha),
		"detail", vcs_event_detail(event));

	if (origin->delivery)
		json_object_set_new(row, "delivery", json_integer(origin->delivery));
	if (event->number)
		json_object_set_new(row, "pull_request", json_integer(event->number));
	if (event->files)
		json_object_set(row, "files", event->files);
	return row;
}

void vcs_event_rows_add(json_t *rows, const struct vcs_origin *origin, const struct vcs_event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		json_array_append_new(rows, event_row(origin, &events[i]));
}

int vcs_event_rows_insert(struct store *store, const json_t *rows, struct err *err)
{
	_cleanup_(freep) char *text = json_text(rows);

	return json_array_size(rows) ? db_queue(store->db, err, vcs_events_insert, .rows = text) : 0;
}

int vcs_events_insert(struct store *store, const struct vcs_origin *origin, const struct vcs_event *events,
	size_t count, struct err *err)
{
	json_auto_t *rows = json_array();

	if (text_equal(origin->found_by, "poll"))
		metric_add(M_VCS_POLLED, "", (double)count);
	vcs_event_rows_add(rows, origin, events, count);
	return vcs_event_rows_insert(store, rows, err);
}

int vcs_event_tell(struct store *store, const struct vcs_told *told, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_event_tell, .new_id = id_new("ve").text,
		.repository_id = told->repository_id, .delivery = told->delivery ? &told->delivery : NULL,
		.found_by = told->found_by, .kind = vcs_event_names[told->kind],
		.level = told->is_error ? "error" : "info", .message = told->message);
}

int vcs_event_unreadable(
	struct store *store, const char *repository_id, long long delivery, const char *why, struct err *err)
{
	_cleanup_(freep) char *message = mem_printf("A delivery can't be read: %s", why);

	return vcs_event_tell(store,
		&(struct vcs_told){.repository_id = repository_id,
			.found_by = "webhook",
			.delivery = delivery,
			.kind = VCS_PING,
			.is_error = true,
			.message = message},
		err);
}

/* ---- reading ---- */

int vcs_event_turns(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_event_turns, .max = max);
}

int vcs_event_pick(struct store *store, const struct vcs_turn *turn, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_repository_try_lock, .repository_id = turn->repository_id) < 0)
		return -1;
	/* A second statement, so that it sees what was committed before the lock. */
	return db_query(store->db, ret_rows, err, vcs_event_pick,
		.repository_id = rows.count ? row_of(vcs_repository_try_lock, &rows, 0)->id : NULL,
		.app_url = github_app_url(store->settings->github_app), .organization_id = turn->organization_id);
}

void vcs_event_of_row(const struct vcs_event_pick_row *row, struct vcs_event *ret_event)
{
	json_auto_t *detail = json_shown(row->detail);
	json_t *files = json_shown(row->files);

	ret_event->kind = vcs_event_kind_of(row->kind);
	ret_event->ref = mem_text(row->ref);
	ret_event->before = mem_text(row->before_sha);
	ret_event->sha = mem_text(row->sha);
	ret_event->number = row->pull_request;
	vcs_event_from_detail(ret_event, detail);
	if (json_is_array(files))
		ret_event->files = files;
	else
		json_decref(files);
}

int vcs_events_looking(
	struct store *store, const char *repository_id, const char *began, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_events_looking, .repository_id = repository_id, .began = began);
}

/* ---- changes ---- */

int vcs_event_look(struct store *store, const char *id, const char *repository_id, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_event_look, .id = id) < 0)
		return -1;
	return vcs_look_now(store, repository_id, err);
}

int vcs_event_compare(struct store *store, const char *id, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_event_compare, .id = id) < 0)
		return -1;
	return git_job_diff(store, id, err);
}

int vcs_event_looked(struct store *store, const char *id, const char *ref, const char *sha, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_event_looked, .id = id, .ref = ref, .sha = sha);
}

int vcs_event_compared(struct store *store, const char *id, const char *files, const char *note, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_event_compared, .id = id, .files = files, .note = note);
}

int vcs_event_end(struct store *store, const struct vcs_end *end, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_event_end, .id = end->id, .message = end->message,
		.is_error = end->is_error, .approval = end->approval);
}

int vcs_event_unanswered(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_event_unanswered, .id = id, .why = why);
}

int vcs_event_postpone(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(
		store->db, NULL, err, vcs_event_postpone, .id = id, .why = why, .postponed_seconds = POSTPONED_SECONDS);
}

/* ---- the thread ---- */

int vcs_next_due(struct store *store, long long *ret_ms, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_next_due_row *next;

	if (db_query(store->db, &rows, err, vcs_next_due) < 0)
		return -1;
	next = row_of(vcs_next_due, &rows, 0);
	*ret_ms = next->ms_null ? -1 : next->ms < 0 ? 0 : next->ms;
	return 0;
}

int vcs_events_expire(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_deliveries_expire, .max = MAX_EXPIRED) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_events_expire, .max = MAX_EXPIRED);
}
