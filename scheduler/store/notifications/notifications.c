/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notifications.h"

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/access/invitations.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/notifications/account_mails.h"
#include "scheduler/store/notifications/notification_configurations.h"
#include "scheduler/store/notifications/notification_payload.h"
#include "scheduler/store/notifications/notification_urls.h"
#include "scheduler/store/notifications/notifications.sql.h"
#include "scheduler/store/site_settings.h"

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
	if (db_query(store->db, &made, err, notifications_put_up, .events = text,
		    .give_up_seconds = store->settings->notification_seconds,
		    .completed = trigger_name(TRIGGER_COMPLETED), .errored = trigger_name(TRIGGER_ERRORED),
		    .destroyed = trigger_name(TRIGGER_DESTROY_RESULTS)) < 0)
		return -1;
	for (int i = 0; i < made.count; i++) {
		const struct notifications_put_up_row *notification = row_of(notifications_put_up, &made, i);

		outbox_add_notification(outbox, notification->id, notification->run_id);
	}
	return 0;
}

int notification_of_workspace_put_up(
	struct store *store, const struct workspace_notification *notification, struct err *err)
{
	return db_query(store->db, NULL, err, notification_of_workspace_put_up,
		.workspace_id = notification->workspace_id, .trigger = trigger_name(notification->trigger),
		.due_at = notification->due_at, .note = notification->note,
		.assessment_id = notification->assessment_id, .id = id_new("ntf").text,
		.give_up_seconds = store->settings->notification_seconds);
}

int notifications_of_change_requests_put_up(struct store *store, struct db_array *ids, struct err *err)
{
	return db_query(store->db, NULL, err, notifications_of_change_requests_put_up, .ids = ids,
		.created = trigger_name(TRIGGER_CHANGE_REQUEST), .of_team = trigger_name(TRIGGER_TEAM_CHANGE_REQUEST),
		.give_up_seconds = store->settings->notification_seconds);
}

/* It has no job message: a verification by e-mail is not urgent. */
int notification_verification_put_up(struct store *store, const char *configuration_id, struct err *err)
{
	return db_query(store->db, NULL, err, notification_verification_put_up, .configuration_id = configuration_id,
		.id = id_new("ntf").text, .trigger = VERIFICATION,
		.give_up_seconds = store->settings->notification_seconds);
}

/* ---- claim ---- */

static struct notification_text text_of(const struct store *store, const struct notifications_claim_row *row)
{
	bool verification = text_equal(row->trigger, VERIFICATION);

	return (struct notification_text){.public_url = store->settings->public_url,
		.configuration_id = row->configuration_id,
		.configuration_name = row->name,
		.trigger = trigger_parse(row->trigger),
		.run_status = row->run_status,
		.updated_at = verification ? NULL : row->happened_at,
		.updated_by = row->updated_by,
		.due_at = row->due_at,
		.assessment = row->assessment,
		.prior_assessment = row->prior,
		.note = row->note,
		.change_request_id = row->change_request_id,
		.change_request_subject = row->change_request_subject,
		.change_request_message = row->change_request_message,
		.run_id = row->run_id,
		.run_message = row->message,
		.run_created_at = row->run_created_at,
		.run_created_by = row->created_by,
		.workspace_id = row->workspace_id,
		.workspace = row->workspace,
		.organization = row->organization};
}

/* Adds the destination: a URL and a signing key, or mail recipients. */
static int way_add(struct store *store, const struct notifications_claim_row *row, json_t *request, struct err *err)
{
	const struct notification_text text = text_of(store, row);
	_cleanup_(buf_release) struct buf token = BUF_INIT(NOTIFICATION_TOKEN_LIMIT),
					  url = BUF_INIT(NOTIFICATION_URL_LIMIT);

	if (row->membership_id) {
		_cleanup_(freep) char *subject = mem_printf("Invitation to the organization %s", row->invited_by);

		json_object_set_new(request, "mail", json_pack("{s[s] ss}", "to", row->invited, "subject", subject));
		return 0;
	}
	if (row->recipient) {
		json_object_set_new(request, "mail",
			json_pack("{s[s] ss}", "to", row->recipient, "subject", account_mail_subject(row->trigger)));
		return 0;
	}
	if (text_equal(row->destination_type, "email")) {
		_cleanup_(freep) char *subject = notification_subject(&text);

		json_object_set_new(
			request, "mail", json_pack("{so ss}", "to", json_shown(row->recipients), "subject", subject));
		return 0;
	}
	if (notification_token_open(store, row->token_sealed, &token, err) < 0 ||
		notification_url_open(store, row->url_sealed, &url, err) < 0)
		return -1;
	json_object_set_new(request, "url", json_string(buf_str(&url)));
	json_object_set_new(request, "hmac-key", json_string_or_null(token.len ? buf_str(&token) : NULL));
	return 0;
}

static char *body_of(const struct store *store, const struct notifications_claim_row *row)
{
	const struct notification_text text = text_of(store, row);

	if (row->membership_id)
		return invitation_mail_text(
			store, &(struct invitation_mail){row->membership_id, row->invited_by, row->expires_at});
	if (row->recipient)
		return account_mail_text(store,
			&(struct account_mail_facts){.kind = row->trigger,
				.username = row->recipient_name,
				.reset_id = row->reset_id,
				.subject = row->subject});
	return notification_body(&text, row->destination_type);
}

static int claimed_add(
	struct store *store, const struct notifications_claim_row *row, json_t *requests, struct err *err)
{
	_cleanup_(freep) char *body = body_of(store, row);
	json_t *request = json_pack("{ss si so ss sI}", "id", row->id, "attempt", (int)row->attempt, "run",
		json_string_or_null(row->run_id), "body", body, "give-up-in-ms", (json_int_t)row->give_up_in_ms);

	if (way_add(store, row, request, err) == 0)
		return json_array_append_new(requests, request);
	json_decref(request);
	return -1;
}

/* Adds the mail server of the site's settings, if it is enabled, to the mails. */
static int server_add(struct store *store, json_t *requests, struct err *err)
{
	json_auto_t *server = NULL;
	json_t *request;
	bool any = false;
	size_t i;

	json_array_foreach(requests, i, request) any = any || json_object_get(request, "mail");
	if (!any)
		return 0;
	/* As above: the mails then have the notifier's own server, or are given up. */
	if (site_mail_server(store, &server, err) < 0) {
		if (err->kind == ERR_UNAVAILABLE)
			return -1;
		log_error("the mail server of the site's settings can't be read", "error", err->message, NULL);
		*err = (struct err)ERR_INIT;
	}
	json_array_foreach(requests, i, request)
	{
		json_t *mail = json_object_get(request, "mail");

		if (mail && server)
			json_object_set(mail, "server", server);
	}
	return 0;
}

int notifications_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *asked = json_text(claim->ids);
	_cleanup_(db_bytes_release) struct db_bytes keys = DB_BYTES_INIT;

	keys_numbers(store, &keys);
	if (db_query(store->db, &rows, err, notifications_claim, .asked = asked, .max = claim->max,
		    .notifier = claim->notifier, .lease_seconds = store->settings->lease_seconds, .keys = &keys) < 0)
		return -1;
	/* A notification whose token can't be opened must not block the others. It stays claimed until it is given
	 * up. */
	for (int i = 0; i < rows.count; i++) {
		const struct notifications_claim_row *row = row_of(notifications_claim, &rows, i);

		if (claimed_add(store, row, requests, err) < 0)
			log_error("a notification can't be sent", "notification", row->id, "run", row->run_id, "error",
				err->message, NULL);
	}
	return server_add(store, requests, err);
}

/* ---- outcomes ---- */

#define NOTE_FIELDS(row)                                                                                               \
	"run", (row)->run_id, "notification", (row)->id, "configuration", (row)->configuration_id, "trigger",          \
		(row)->trigger, "status", (row)->code, "error", (row)->error

/* Logs the outcome with the run's id, so that the log can be searched by run. */
static void note_end(const struct notification_ended_row *row)
{
	bool delivered = text_equal(row->ended, "acknowledged");

	metric_addf(M_NOTIFICATIONS, 1, "destination=\"%s\",outcome=\"%s\"",
		row->destination_type ? row->destination_type : "email", delivered ? "delivered" : "gave_up");
	if (delivered)
		log_info("a notification was delivered", NOTE_FIELDS(row), NULL);
	else
		log_warn("a notification could not be delivered", NOTE_FIELDS(row), NULL);
}

/* Notes the ends, and trims the responses of their configurations. */
static int ended_note(struct store *store, const struct rows *rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array touched = DB_ARRAY_INIT;

	for (int i = 0; i < rows->count; i++) {
		const struct notification_ended_row *row = row_of(notification_ended, rows, i);

		if (row->configuration_id)
			db_array_add(&touched, row->configuration_id);
		if (row->ended)
			note_end(row);
	}
	return rows->count ? notification_responses_trim(store, &touched, err) : 0;
}

int notifications_delivered(struct store *store, const json_t *deliveries, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(deliveries);

	if (db_query(store->db, &rows, err, notifications_delivered, .deliveries = text) < 0)
		return -1;
	return ended_note(store, &rows, err);
}

int notifications_give_up(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, notifications_give_up) < 0)
		return -1;
	return ended_note(store, &rows, err);
}
