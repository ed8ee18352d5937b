/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/log.h"
#include "proto/protocol.h"
#include "scheduler/api/api.h"
#include "scheduler/api/tasks/callback_relay.h"
#include "scheduler/api/tasks/task_stages.h"
#include "scheduler/runs/task_reports.h"
#include "scheduler/runs/vcs/answers.h"
#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/notifications/notifiers.h"
#include "scheduler/store/notifications/notifiers.sql.h"
#include "scheduler/store/requests.h"
#include "scheduler/store/tasks/task_calls.h"
#include "scheduler/store/tasks/task_views.h"
#include "scheduler/store/tasks/task_views.sql.h"

/* The requests of notifiers, with a notifier's token (proto/README.md). Bodies are plain JSON, not JSON:API
 * documents. */

enum { MAX_DEADLINES = 1000, MAX_URL = 1024 };

static int body_array(const struct request *req, const char *name, const json_t **ret_array, struct err *err)
{
	*ret_array = json_object_get(req->body, name);
	return json_is_array(*ret_array) ? 0 : err_set(err, ERR_INVALID, "'%s' must be an array", name);
}

static int respond_array(struct response *res, const char *name, json_t *array)
{
	return respond_json(res, 200, json_pack("{so}", name, array));
}

/* The notifier's URL. The host "*" is replaced by the address of the connection. */
static char *internal_url(const struct request *req, const char *given)
{
	static const char anywhere[] = "http://*:";
	const char *address = req->http->address;
	bool six = strchr(address, ':') != NULL;

	if (!text_starts(given, anywhere))
		return mem_text(given);
	return mem_printf("http://%s%s%s:%s", six ? "[" : "", address, six ? "]" : "", given + strlen(anywhere));
}

/* Notifiers of earlier versions send no internal-url: they receive their callbacks directly. */
static int claimer_note(struct request *req, struct request_claim *claim, struct err *err)
{
	const char *given = json_string_at(req->body, "internal-url");
	struct notifier_mark mark = {
		.name = claim->notifier, .version = text_or_empty(json_string_at(req->body, "version"))};
	_cleanup_(freep) char *url = NULL;

	if (protocol_agree(json_at(req->body, "protocols"), "notifier", &mark.protocol, err) < 0)
		return -1;
	if (!given)
		return 0;
	if ((!text_starts(given, "http://") && !text_starts(given, "https://")) || strlen(given) > MAX_URL)
		return err_set(err, ERR_INVALID, "'internal-url' must be a URL of at most %d characters", MAX_URL);
	url = internal_url(req, given);
	claim->callback_url = req->store->settings->public_url;
	mark.url = url;
	return notifier_seen(req->store, &mark, err);
}

int notifier_claims(struct request *req, struct response *res, struct err *err)
{
	struct request_claim claim = {
		.notifier = json_string_at(req->body, "notifier"),
		.callback_url = json_string_at(req->body, "callback-url"),
	};
	json_t *calls = NULL;
	long long max = json_int_at(req->body, "max", MAX_REQUESTS_CLAIMED);

	claim.calls = json_bool_at(req->body, "calls", false);
	claim.forwards = json_bool_at(req->body, "forwards", false);
	claim.max = max < 0 ? 0 : max < MAX_REQUESTS_CLAIMED ? (int)max : MAX_REQUESTS_CLAIMED;
	if (!claim.notifier || !claim.callback_url)
		return err_set(err, ERR_INVALID, "'notifier' and 'callback-url' must be texts");
	if (body_array(req, "ids", &claim.ids, err) < 0 || claimer_note(req, &claim, err) < 0 ||
		requests_claim(req->store, &claim, &calls, err) < 0)
		return -1;
	return respond_json(res, 200,
		json_pack("{si so}", "lease-seconds", req->store->settings->lease_seconds, "requests", calls));
}

int notifier_beats(struct request *req, struct response *res, struct err *err)
{
	const char *notifier = json_string_at(req->body, "notifier");
	const json_t *held;
	json_t *answer = NULL;

	if (!notifier)
		return err_set(err, ERR_INVALID, "'notifier' must be a text");
	if (body_array(req, "requests", &held, err) < 0 || requests_beat(req->store, notifier, held, &answer, err) < 0)
		return -1;
	return respond_array(res, "requests", answer);
}

int notifier_releases(struct request *req, struct response *res, struct err *err)
{
	const char *notifier = json_string_at(req->body, "notifier");
	const json_t *released;

	if (!notifier)
		return err_set(err, ERR_INVALID, "'notifier' must be a text");
	if (body_array(req, "requests", &released, err) < 0 ||
		requests_release(req->store, notifier, released, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* The reports are stored in PostgreSQL. If one can't be decided, the reaper retries all of them, so the notifier need
 * not send them again. */
static int reports_decide(struct store *store, struct db_array *decided, struct err *err)
{
	if (task_reports_decide(store, decided, err) == 0)
		return 0;
	if (err->kind == ERR_UNAVAILABLE)
		return -1;
	log_error("reports that a notifier sent can't be decided", "error", err->message, NULL);
	*err = (struct err)ERR_INIT;
	return 0;
}

/* Applies the answers of VCS providers, and drops their texts: no other part reads them. */
static int answers_apply(struct store *store, const json_t *deliveries, struct err *err)
{
	json_t *delivery;
	size_t i;

	if (!requests_have(deliveries, "vcscall-"))
		return 0;
	if (vcs_answers_apply(store, deliveries, err) < 0)
		return -1;
	json_array_foreach((json_t *)deliveries, i, delivery)
	{
		json_object_del(delivery, "body");
	}
	return 0;
}

int notifier_delivers(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(db_array_release) struct db_array decided = DB_ARRAY_INIT;
	const json_t *deliveries;
	json_t *answer = NULL;

	if (body_array(req, "deliveries", &deliveries, err) < 0 || answers_apply(req->store, deliveries, err) < 0 ||
		task_calls_delivered(req->store, deliveries, &answer, &decided, err) < 0)
		return -1;
	if (reports_decide(req->store, &decided, err) < 0 ||
		(requests_have(deliveries, "ntf-") && notifications_delivered(req->store, deliveries, err) < 0)) {
		json_decref(answer);
		return -1;
	}
	return respond_array(res, "deliveries", answer);
}

/* Adds the document that the service gets to each accepted callback. All documents are read with one statement. */
static int documents_add(struct request *req, json_t *callbacks, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *documents = json_object();
	json_t *callback;
	size_t i;

	json_array_foreach(callbacks, i, callback) if (json_int_at(callback, "answer", 0) == 200)
		db_array_add(&ids, json_string_at(callback, "task-result"));
	if (task_results_view(req->store, &ids, NULL, &rows, err) < 0)
		return -1;
	for (int row = 0; row < rows.count; row++) {
		const struct task_result_row *result = row_of(task_result, &rows, row);

		json_object_set_new(documents, result->id, json_pack("{so}", "data", task_result_resource(result)));
	}
	json_array_foreach(callbacks, i, callback) if (json_int_at(callback, "answer", 0) == 200) json_object_set(
		callback, "document", json_object_get(documents, json_string_at(callback, "task-result")));
	return 0;
}

int notifier_calls(struct request *req, struct response *res, struct err *err)
{
	const json_t *callbacks;
	json_t *answer = NULL;

	if (body_array(req, "callbacks", &callbacks, err) < 0 ||
		task_calls_back(req->store, callbacks, &answer, err) < 0)
		return -1;
	if (documents_add(req, answer, err) < 0) {
		json_decref(answer);
		return -1;
	}
	return respond_array(res, "callbacks", answer);
}

/* A service's callback at the API's own address. It is relayed to a notifier. */
int task_results_callback(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct callback callback = {.url_count = 0};

	if (notifiers_live(req->store, RELAY_NOTIFIERS_MAX, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAVAILABLE, "No notifier is there to take the result. Send it again.");
	text_copy(callback.task_result.text, sizeof(callback.task_result.text), param(req, "result"));
	callback.bearer = mem_text(req->bearer);
	for (int i = 0; i < rows.count; i++)
		callback.urls[callback.url_count++] = mem_text(row_of(notifiers_live, &rows, i)->url);
	callback_relay_pass(req->services->relay, req->http, res->http, &callback);
	return 0;
}

int notifier_times_out(struct request *req, struct response *res, struct err *err)
{
	const json_t *late;
	json_t *answer = NULL;

	if (body_array(req, "task-results", &late, err) < 0 || task_calls_late(req->store, late, &answer, err) < 0)
		return -1;
	return respond_array(res, "task-results", answer);
}

int notifier_deadlines(struct request *req, struct response *res, struct err *err)
{
	long long limit = MAX_DEADLINES;
	json_t *answer = NULL;

	if (query(req, "limit") && text_number(query(req, "limit"), 1, MAX_DEADLINES, &limit) < 0)
		return err_set(err, ERR_MALFORMED, "limit must be a whole number from 1 to %d", MAX_DEADLINES);
	if (task_calls_deadlines(req->store, text_or_empty(query(req, "after")), (int)limit, &answer, err) < 0)
		return -1;
	return respond_array(res, "deadlines", answer);
}
