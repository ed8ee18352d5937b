/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notifications.h"

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/db/sql_time.h"
#include "scheduler/metrics.h"
#include "scheduler/store/access/invitations.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/notifications/notification_configurations.h"
#include "scheduler/store/notifications/notification_payload.h"
#include "scheduler/store/notifications/notification_urls.h"

#define VERIFICATION "verification"

/* ---- creating ---- */

void notification_event_add(json_t *rows, const struct notification_event *event)
{
	json_array_append_new(rows,
		json_pack("{ss ss ss ss ss ss so}", "id", id_new("ntf").text, "run_id", event->run_id, "workspace_id",
			event->workspace_id, "trigger", trigger_name(event->trigger), "status",
			run_statuses[event->status].name, "at", event->at, "actor", json_string_or_null(event->actor)));
}

int notifications_put_up(struct store *store, const json_t *rows, struct outbox *outbox, struct err *err)
{
	_cleanup_(rows_release) struct rows made = ROWS_INIT;
	_cleanup_(freep) char *text = NULL;

	if (!json_array_size(rows))
		return 0;
	text = json_text(rows);
	if (db_query(store->db, &made, err,
		    "insert into notifications (id, configuration_id, run_id, trigger, run_status, happened_at, "
		    "actor_id, give_up_at) "
		    "select 'ntf-' || substr(md5(u.id || c.id || t.trigger), 1, 16), c.id, u.run_id, t.trigger, "
		    "u.status, u.at, "
		    "u.actor, now() + make_interval(secs => $2) "
		    "from jsonb_to_recordset($1::jsonb) as u(id text, run_id text, workspace_id text, trigger text, "
		    "status text, at timestamptz, actor text) join workspaces w on w.id = u.workspace_id "
		    "join notification_configurations c on c.workspace_id = w.id or c.project_id = w.project_id "
		    "cross join lateral (values (u.trigger), (case when u.trigger in ($3, $4) and exists (select 1 "
		    "from "
		    "run_inputs i where i.run_id = u.run_id and i.trigger_reason = 'auto_destroy') then $5 end)) "
		    "t(trigger) "
		    "where c.enabled and t.trigger = any(c.triggers) returning id, run_id",
		    P_TEXT(text), P_INT(store->settings->notification_seconds), P_TEXT(trigger_name(TRIGGER_COMPLETED)),
		    P_TEXT(trigger_name(TRIGGER_ERRORED)), P_TEXT(trigger_name(TRIGGER_DESTROY_RESULTS))) < 0)
		return -1;
	for (int i = 0; i < made.count; i++)
		outbox_add_notification(outbox, row_text(&made, i, "id"), row_text(&made, i, "run_id"));
	return 0;
}

int notification_reminder_put_up(struct store *store, const char *workspace_id, const char *due_at, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into notifications (id, configuration_id, workspace_id, trigger, happened_at, due_at, "
		"give_up_at) "
		"select 'ntf-' || substr(md5($4 || c.id), 1, 16), c.id, w.id, $2, now(), $3::timestamptz, "
		"now() + make_interval(secs => $5) from workspaces w join notification_configurations c "
		"on c.workspace_id = w.id or c.project_id = w.project_id "
		"where w.id = $1 and c.enabled and $2 = any(c.triggers)",
		P_TEXT(workspace_id), P_TEXT(trigger_name(TRIGGER_DESTROY_REMINDER)), P_TEXT(due_at),
		P_TEXT(id_new("ntf").text), P_INT(store->settings->notification_seconds));
}

/* It has no job message: a verification by e-mail is not urgent. */
int notification_verification_put_up(struct store *store, const char *configuration_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into notifications (id, configuration_id, trigger, happened_at, give_up_at) "
		"select $2, id, $3, now(), now() + make_interval(secs => $4) from notification_configurations "
		"where id = $1",
		P_TEXT(configuration_id), P_TEXT(id_new("ntf").text), P_TEXT(VERIFICATION),
		P_INT(store->settings->notification_seconds));
}

/* ---- claim ---- */

#define HAPPENED_AT SQL_TIME("n.happened_at")
#define CREATED_AT  SQL_TIME("r.created_at")
#define DUE_AT      SQL_TIME("n.due_at")

/* The recipients of an e-mail: addresses, and users who are still members. */
#define RECIPIENTS                                                                                                     \
	"(select coalesce(jsonb_agg(distinct t.email), '[]') from (select unnest(c.email_addresses) as email "         \
	"union select x.email from notification_users nu join users x on x.id = nu.user_id "                           \
	"join organization_memberships m on m.user_id = x.id and m.organization_id = c.organization_id and m.status "  \
	"= 'active' "                                                                                                  \
	"where nu.configuration_id = c.id and x.email is not null) t)"

/* Claims up to $2 notifications: the oldest of notifications_waiting, or of the ids in $1 if there are any. Returns all
 * that their messages say. Every join is by a primary key, and the picked ids are an array (db/db.h, "plans"). */
static const char claim_sql[] =
	"with picked as (select id from notifications k where delivery = 'waiting' and (jsonb_array_length($1::jsonb) "
	"= 0 or id in (select jsonb_array_elements_text($1::jsonb))) and not exists (select 1 from "
	"notification_configurations f where f.id = k.configuration_id and (" KEY_IS_MISSING(
		"f.url_sealed", "$5") "or " KEY_IS_MISSING("f.token_sealed",
		"$5") ")) order by created_at, id limit $2 for update skip locked) "
		      "update notifications n set delivery = 'claimed', attempt = n.attempt + 1, notifier = $3, "
		      "lease_until = now() + make_interval(secs => $4), updated_at = now() from notifications q "
		      "left join notification_configurations c on c.id = q.configuration_id "
		      "left join organization_memberships m on m.id = q.membership_id "
		      "left join organizations io on io.id = m.organization_id "
		      "left join users a on a.id = q.actor_id left join runs r on r.id = q.run_id "
		      "left join run_inputs i on i.run_id = q.run_id left join users b on b.id = i.created_by "
		      "left join workspaces w on w.id = coalesce(r.workspace_id, q.workspace_id) left join "
		      "organizations o on o.id = "
		      "w.organization_id "
		      "where n.id = q.id and q.id = any(array(select id from picked)) "
		      "and n.id = any(array(select id from picked)) returning n.id, n.attempt, n.run_id, n.trigger, "
		      "n.run_status, " HAPPENED_AT
		      " as happened_at, greatest(extract(epoch from n.give_up_at - now()) * 1000, 0)::bigint as "
		      "give_up_in_ms, "
		      "a.username as updated_by, c.id as configuration_id, c.name, c.destination_type, "
		      "c.url_sealed, c.token_sealed, " RECIPIENTS " as recipients, " CREATED_AT
		      " as run_created_at, " DUE_AT " as due_at, i.message, b.username as created_by, n.membership_id, "
		      "io.name as invited_by, m.email as invited, "
		      "to_char(m.created_at + interval '" INVITATION_DAYS " days', 'YYYY-MM-DD') as expires_at, "
		      "w.id as workspace_id, w.name as workspace, o.name as organization";

static struct notification_text text_of(const struct store *store, const struct rows *rows, int row)
{
	const char *trigger = row_text(rows, row, "trigger");
	bool verification = text_equal(trigger, VERIFICATION);

	return (struct notification_text){.public_url = store->settings->public_url,
		.configuration_id = row_text(rows, row, "configuration_id"),
		.configuration_name = row_text(rows, row, "name"),
		.trigger = trigger_parse(trigger),
		.run_status = row_text(rows, row, "run_status"),
		.updated_at = verification ? NULL : row_text(rows, row, "happened_at"),
		.updated_by = row_text(rows, row, "updated_by"),
		.due_at = row_text(rows, row, "due_at"),
		.run_id = row_text(rows, row, "run_id"),
		.run_message = row_text(rows, row, "message"),
		.run_created_at = row_text(rows, row, "run_created_at"),
		.run_created_by = row_text(rows, row, "created_by"),
		.workspace_id = row_text(rows, row, "workspace_id"),
		.workspace = row_text(rows, row, "workspace"),
		.organization = row_text(rows, row, "organization")};
}

/* Adds the destination: a URL and a signing key, or mail recipients. */
static int way_add(struct store *store, const struct rows *rows, int row, json_t *request, struct err *err)
{
	const struct notification_text text = text_of(store, rows, row);
	_cleanup_(buf_release) struct buf token = BUF_INIT(NOTIFICATION_TOKEN_LIMIT),
					  url = BUF_INIT(NOTIFICATION_URL_LIMIT);

	if (!row_null(rows, row, "membership_id")) {
		_cleanup_(freep) char *subject =
			mem_printf("Invitation to the organization %s", row_text(rows, row, "invited_by"));

		json_object_set_new(request, "mail",
			json_pack("{s[s] ss}", "to", row_text(rows, row, "invited"), "subject", subject));
		return 0;
	}
	if (text_equal(row_text(rows, row, "destination_type"), "email")) {
		_cleanup_(freep) char *subject = notification_subject(&text);

		json_object_set_new(request, "mail",
			json_pack("{so ss}", "to", row_json(rows, row, "recipients"), "subject", subject));
		return 0;
	}
	if (notification_token_open(store, rows, row, &token, err) < 0 ||
		notification_url_open(store, rows, row, &url, err) < 0)
		return -1;
	json_object_set_new(request, "url", json_string(buf_str(&url)));
	json_object_set_new(request, "hmac-key", json_string_or_null(token.len ? buf_str(&token) : NULL));
	return 0;
}

static char *body_of(const struct store *store, const struct rows *rows, int row)
{
	const struct notification_text text = text_of(store, rows, row);

	if (!row_null(rows, row, "membership_id"))
		return invitation_mail_text(store, rows, row);
	return notification_body(&text, row_text(rows, row, "destination_type"));
}

static int claimed_add(struct store *store, const struct rows *rows, int row, json_t *requests, struct err *err)
{
	_cleanup_(freep) char *body = body_of(store, rows, row);
	json_t *request = json_pack("{ss si so ss sI}", "id", row_text(rows, row, "id"), "attempt",
		(int)row_int(rows, row, "attempt"), "run", json_string_or_null(row_text(rows, row, "run_id")), "body",
		body, "give-up-in-ms", (json_int_t)row_int(rows, row, "give_up_in_ms"));

	if (way_add(store, rows, row, request, err) == 0)
		return json_array_append_new(requests, request);
	json_decref(request);
	return -1;
}

int notifications_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *asked = json_text(claim->ids);
	_cleanup_(db_bytes_release) struct db_bytes keys = DB_BYTES_INIT;

	keys_numbers(store, &keys);
	if (db_query(store->db, &rows, err, claim_sql, P_TEXT(asked), P_INT(claim->max), P_TEXT(claim->notifier),
		    P_INT(store->settings->lease_seconds), P_BYTES_ARRAY(&keys)) < 0)
		return -1;
	/* A notification whose token can't be opened must not block the others. It stays claimed until it is given
	 * up. */
	for (int i = 0; i < rows.count; i++)
		if (claimed_add(store, &rows, i, requests, err) < 0)
			log_error("a notification can't be sent", "notification", row_text(&rows, i, "id"), "run",
				row_text(&rows, i, "run_id"), "error", err->message, NULL);
	return 0;
}

/* ---- outcomes ---- */

#define NOTE_FIELDS(rows, row)                                                                                         \
	"run", row_text(rows, row, "run_id"), "notification", row_text(rows, row, "id"), "configuration",              \
		row_text(rows, row, "configuration_id"), "trigger", row_text(rows, row, "trigger"), "status",          \
		row_text(rows, row, "code"), "error", row_text(rows, row, "error")

/* Logs the outcome with the run's id, so that the log can be searched by run. */
static void note_end(const struct rows *rows, int row)
{
	bool delivered = text_equal(row_text(rows, row, "ended"), "acknowledged");

	metric_addf(M_NOTIFICATIONS, 1, "destination=\"%s\",outcome=\"%s\"",
		row_null(rows, row, "destination_type") ? "email" : row_text(rows, row, "destination_type"),
		delivered ? "delivered" : "gave_up");
	if (delivered)
		log_info("a notification was delivered", NOTE_FIELDS(rows, row), NULL);
	else
		log_warn("a notification could not be delivered", NOTE_FIELDS(rows, row), NULL);
}

int notifications_delivered(struct store *store, const json_t *deliveries, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array touched = DB_ARRAY_INIT;
	_cleanup_(freep) char *text = json_text(deliveries);

	/* Returns the deliveries in their order, without those of earlier attempts. Logs each that has a configuration,
	 * and deletes notifications that are delivered or given up. */
	if (db_query(store->db, &rows, err,
		    "with said as (select n.id, n.run_id, n.trigger, n.configuration_id, c.destination_type, "
		    "c.url_sealed, case s.status when 0 then '' else s.status::text end as code, "
		    "s.status, coalesce(s.answer, s.error, '') as body, coalesce(s.headers, '{}') as headers, s.error, "
		    "s.ended, s.ord from rows from (jsonb_to_recordset($1::jsonb) as (id text, attempt integer, "
		    "status integer, answer text, error text, headers jsonb, \"end\" text)) with ordinality "
		    "as s(id, attempt, status, answer, error, headers, ended, ord) "
		    "join notifications n on n.id = s.id and n.attempt = s.attempt and n.id = any(array("
		    "select d.id from jsonb_to_recordset($1::jsonb) as d(id text))) "
		    "left join notification_configurations c on c.id = n.configuration_id), "
		    "logged as (insert into notification_responses (configuration_id, url_sealed, code, body, "
		    "headers, successful) select configuration_id, url_sealed, code, left(body, 1024), headers, "
		    "ended is not distinct from 'acknowledged' from said where configuration_id is not null order by "
		    "ord), "
		    "gone as (delete from notifications where id = any(array(select id from said where ended is not "
		    "null))) "
		    "select id, run_id, trigger, configuration_id, destination_type, code, error, ended from said "
		    "order by ord",
		    P_TEXT(text)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		if (!row_null(&rows, i, "configuration_id"))
			db_array_add(&touched, row_text(&rows, i, "configuration_id"));
		if (!row_null(&rows, i, "ended"))
			note_end(&rows, i);
	}
	return notification_responses_trim(store, &touched, err);
}

int notifications_give_up(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array touched = DB_ARRAY_INIT;

	if (db_query(store->db, &rows, err,
		    "with gone as (delete from notifications where give_up_at < now() - interval '30 seconds' "
		    "returning *), "
		    "late as (select n.id, n.run_id, n.trigger, n.configuration_id, c.destination_type, "
		    "c.url_sealed from gone n "
		    "left join notification_configurations c on c.id = n.configuration_id), "
		    "logged as (insert into notification_responses (configuration_id, url_sealed, code, body, "
		    "successful) "
		    "select configuration_id, url_sealed, '', 'It could not be sent in time: is a notifier "
		    "running?', false "
		    "from late where configuration_id is not null) "
		    "select id, run_id, trigger, configuration_id, destination_type, null as code, "
		    "'no notifier sent it in time' as error, 'gave-up' as ended from late") < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		if (!row_null(&rows, i, "configuration_id"))
			db_array_add(&touched, row_text(&rows, i, "configuration_id"));
		note_end(&rows, i);
	}
	return rows.count ? notification_responses_trim(store, &touched, err) : 0;
}
