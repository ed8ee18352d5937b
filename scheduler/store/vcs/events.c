/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events.h"

#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/vcs/connections.h"
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

	if (db_query(store->db, NULL, err,
		    "insert into vcs_events (id, organization_id, connection_id, repository_id, found_by, kind, sha, "
		    "detail, state) select $1, r.organization_id, r.connection_id, r.id, 'request', 'push', "
		    "coalesce($3, ''), $4::jsonb, 'looking' from vcs_repositories r where r.id = $2",
		    P_TEXT(id.text), P_TEXT(request->repository_id), P_TEXT(request->sha), P_TEXT(text)) < 0 ||
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

/* Each repository is one lookup by the primary key. */
/* clang-format off */
static const char insert_sql[] =
	"insert into vcs_events (id, organization_id, connection_id, repository_id, delivery, found_by, kind, ref, "
	"before_sha, sha, pull_request, detail, files) select u.id, r.organization_id, r.connection_id, "
	"u.repository_id, u.delivery, u.found_by, u.kind, u.ref, u.before_sha, u.sha, u.pull_request, u.detail, u.files "
	"from rows from (jsonb_to_recordset($1::jsonb) as (id text, repository_id text, delivery bigint, found_by text, "
	"kind text, ref text, before_sha text, sha text, pull_request bigint, detail jsonb, files jsonb)) with ordinality "
	"as u(id, repository_id, delivery, found_by, kind, ref, before_sha, sha, pull_request, detail, files, n), "
	"lateral (select organization_id, connection_id from vcs_repositories where id = u.repository_id limit 1) r "
	"order by u.n";
/* clang-format on */

int vcs_event_rows_insert(struct store *store, const json_t *rows, struct err *err)
{
	_cleanup_(freep) char *text = json_text(rows);

	return json_array_size(rows) ? db_queue(store->db, err, insert_sql, P_TEXT(text)) : 0;
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

/* 0: the event is of no delivery. */
static struct db_param delivery_param(long long delivery)
{
	struct db_param param = P_INT(delivery);

	if (!delivery)
		param.kind = DB_NULL;
	return param;
}

int vcs_event_tell(struct store *store, const struct vcs_told *told, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into vcs_events (id, organization_id, connection_id, repository_id, delivery, found_by, kind, "
		"state, level, message, done_at) select $1, r.organization_id, r.connection_id, r.id, $3, $4, $5, "
		"'done', $6, left($7, 1000), now() from vcs_repositories r where r.id = $2",
		P_TEXT(id_new("ve").text), P_TEXT(told->repository_id), delivery_param(told->delivery),
		P_TEXT(told->found_by), P_TEXT(vcs_event_names[told->kind]), P_TEXT(told->is_error ? "error" : "info"),
		P_TEXT(told->message));
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

#define EVENT_COLUMNS                                                                                                  \
	"e.id as event_id, e.state, e.found_by, e.kind, e.ref, e.before_sha, e.sha, e.pull_request, e.detail, "        \
	"e.files, e.files_note "

/*
 * Reads $1 repositories with due events, in the order of their turns. The recursion jumps from repository to repository
 * in the index vcs_events_waiting. It reads all repositories with waiting events, so its result serves for several
 * events. In each round all organizations have one turn, so an organization with many events does not delay others. A
 * repository has more than one turn if its organization has few. The limits keep the planner from joining all events
 * that wait.
 */
/* clang-format off */
static const char turns_sql[] =
	"with recursive waiting as ((select organization_id, repository_id from vcs_events where state = 'waiting' "
	"order by organization_id, repository_id limit 1) union all "
	"select n.organization_id, n.repository_id from waiting w, lateral (select organization_id, repository_id "
	"from vcs_events where state = 'waiting' and (organization_id, repository_id) > (w.organization_id, "
	"w.repository_id) order by organization_id, repository_id limit 1) n), "
	"ranked as (select repository_id, organization_id, random() as place, "
	"row_number() over (partition by organization_id order by random()) - 1 as number, "
	"count(*) over (partition by organization_id) as repositories from waiting w, lateral (select 1 from vcs_events e where e.organization_id = "
	"w.organization_id and e.repository_id = w.repository_id and e.state = 'waiting' and e.due_at <= now() "
	"order by e.organization_id, e.repository_id, e.sequence limit 1) due) "
	"select k.repository_id, k.organization_id from generate_series(0, $1 - 1) round "
	"join ranked k on k.number = round % k.repositories order by round, k.place limit $1";
/* clang-format on */

int vcs_event_turns(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, turns_sql, P_INT(max));
}

int vcs_event_pick(struct store *store, const struct vcs_turn *turn, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select id from vcs_repositories where id = $1 for no key update skip locked",
		    P_TEXT(turn->repository_id)) < 0)
		return -1;
	/* A second statement, so that it sees what was committed before the lock. */
	return db_query(store->db, ret_rows, err,
		"select " EVENT_COLUMNS ", r.id as repository_id, r.organization_id, r.identifier, r.default_branch, "
		"r.looked_at, " VCS_DIALECT_COLUMNS
		", coalesce(c.http_url, $2) as http_url from vcs_events e join vcs_repositories r on r.id = "
		"e.repository_id left join vcs_connections c on c.id = r.connection_id where e.organization_id = $3 "
		"and e.repository_id = $1 and e.state = 'waiting' and e.due_at <= now() order by e.sequence limit 1",
		P_TEXT(rows.count ? row_text(&rows, 0, "id") : NULL),
		P_TEXT(github_app_url(store->settings->github_app)), P_TEXT(turn->organization_id));
}

void vcs_event_of_row(const struct rows *rows, int row, struct vcs_event *ret_event)
{
	json_auto_t *detail = row_json(rows, row, "detail");
	json_t *files = row_json(rows, row, "files");

	ret_event->kind = vcs_event_kind_of(row_text(rows, row, "kind"));
	ret_event->ref = mem_text(row_text(rows, row, "ref"));
	ret_event->before = mem_text(row_text(rows, row, "before_sha"));
	ret_event->sha = mem_text(row_text(rows, row, "sha"));
	ret_event->number = row_int(rows, row, "pull_request");
	vcs_event_from_detail(ret_event, detail);
	if (json_is_array(files))
		ret_event->files = files;
	else
		json_decref(files);
}

int vcs_events_looking(
	struct store *store, const char *repository_id, const char *began, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " EVENT_COLUMNS "from vcs_events e where e.repository_id = $1 and e.state = 'looking' and "
		"e.due_at < $2::timestamptz and (e.sha <> '' or e.pull_request is null) order by e.sequence for "
		"update",
		P_TEXT(repository_id), P_TEXT(began));
}

/* ---- changes ---- */

int vcs_event_look(struct store *store, const char *id, const char *repository_id, struct err *err)
{
	if (db_query(store->db, NULL, err, "update vcs_events set state = 'looking', due_at = now() where id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return vcs_look_now(store, repository_id, err);
}

int vcs_event_compare(struct store *store, const char *id, struct err *err)
{
	if (db_query(store->db, NULL, err, "update vcs_events set state = 'comparing' where id = $1", P_TEXT(id)) < 0)
		return -1;
	return git_job_diff(store, id, err);
}

int vcs_event_looked(struct store *store, const char *id, const char *ref, const char *sha, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_events set state = 'waiting', due_at = now(), ref = coalesce($2, ref), "
		"sha = coalesce($3, sha), detail = (case when $3::text is null then detail "
		"else detail - '{message,author,commit_url,compare_url}'::text[] end) || '{\"looked\": true}' where id "
		"= $1",
		P_TEXT(id), P_TEXT(ref), P_TEXT(sha));
}

int vcs_event_compared(struct store *store, const char *id, const char *files, const char *note, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_events set state = 'waiting', due_at = now(), files = $2::jsonb, files_note = $3 where id "
		"= $1 and state = 'comparing'",
		P_TEXT(id), P_TEXT(files), P_TEXT(note));
}

int vcs_event_end(struct store *store, const struct vcs_end *end, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_events set state = case when $4 then 'approval' else 'done' end, done_at = case when not "
		"$4 then now() end, message = $2, level = case when $3 then 'error' else 'info' end where id = $1",
		P_TEXT(end->id), P_TEXT(end->message), P_BOOL(end->is_error), P_BOOL(end->approval));
}

int vcs_event_unanswered(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_events set message = $2, level = 'error' where id = $1 and state = 'looking'", P_TEXT(id),
		P_TEXT(why));
}

int vcs_event_postpone(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_events set due_at = now() + make_interval(secs => $3), message = $2, level = 'error' "
		"where id = $1 and state = 'waiting'",
		P_TEXT(id), P_TEXT(why), P_INT(POSTPONED_SECONDS));
}

/* ---- the thread ---- */

/* clang-format off */
static const char next_sql[] =
	"select ceil(1000 * extract(epoch from least("
	"(select min(due_at) from vcs_deliveries where state = 'waiting'), "
	"(select min(due_at) from vcs_events where state = 'waiting'), "
	"(select min(due_at) from vcs_pull_reads), "
	"(select r.look_due from vcs_repositories r where " REPOSITORY_IS_USED("r") "order by r.look_due limit 1)) "
	"- now()))::bigint as ms";
/* clang-format on */

int vcs_next_due(struct store *store, long long *ret_ms, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	long long ms;

	if (db_query(store->db, &rows, err, next_sql) < 0)
		return -1;
	ms = row_int(&rows, 0, "ms");
	*ret_ms = row_null(&rows, 0, "ms") ? -1 : ms < 0 ? 0 : ms;
	return 0;
}

int vcs_events_expire(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err,
		    "delete from vcs_deliveries where sequence = any(array(select sequence from vcs_deliveries where "
		    "received_at < now() - interval '30 days' order by received_at limit $1))",
		    P_INT(MAX_EXPIRED)) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"delete from vcs_events where id = any(array(select id from vcs_events where created_at < now() - "
		"interval '30 days' order by created_at limit $1))",
		P_INT(MAX_EXPIRED));
}
