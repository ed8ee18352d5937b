/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/vcs/webhooks.h"

#include <stdio.h>
#include <strings.h>

#include "common/clock.h"
#include "common/http/http_clients.h"
#include "scheduler/api/api.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/auth/vcs/renewals.h"
#include "scheduler/background/vcs/listener.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/form.h"
#include "scheduler/metrics.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/store/vcs/hooks.h"
#include "scheduler/store/vcs/installations.h"
#include "scheduler/store/vcs/installations.sql.h"
#include "scheduler/vcs/proof.h"

/*
 * Deliveries to the hooks of repositories and of the site's GitHub App. The answer is sent when the delivery has been
 * committed. The VCS thread reads it later (background/vcs/events.h). A delivery that makes no event, or that was sent
 * before, gets the same answer, because providers disable hooks that fail.
 */

struct delivery_item {
	struct batch_item item;        /* must be the first member */
	struct vcs_hook hook;          /* of a repository; deliveries_commit fills it */
	bool of_app;                   /* it was sent to the hook of the GitHub App */
	struct app_delivery app;       /* of the App; without an identifier, nothing is stored */
	struct vcs_delivery_name name; /* the App's handler or deliveries_commit fills it */
	json_t *body;                  /* owned; JSON whose texts other members borrow, or NULL */
};

static struct delivery_item *delivery_of(struct batch_item *item)
{
	return (struct delivery_item *)(void *)item;
}

static double seconds_now(void)
{
	return (double)clock_mono_ms() / 1000;
}

static void deliveries_count(const char *outcome)
{
	char label[64];

	snprintf(label, sizeof(label), "outcome=\"%s\"", outcome);
	metric_add(M_VCS_DELIVERIES, label, 1);
}

/* ---- limits ---- */

static int too_many(struct response *res, const struct bucket_level *level, struct err *err)
{
	snprintf(res->http->retry_after, sizeof(res->http->retry_after), "%d", (int)level->wait + 1);
	deliveries_count("limited");
	return err_set(err, ERR_BUSY, "too many deliveries");
}

/* The limit per address counts only failures, because a provider sends all deliveries from few addresses. It is checked
 * before the proof and the database. */
static int failures_check(const struct request *req, struct response *res, struct err *err)
{
	char address[HTTP_ADDRESS_SIZE];
	struct bucket_level level;

	http_address_key(req->audit->address, address);
	level = bucket_look(req->services->buckets, LIMIT_HOOK_FAILURES, address, seconds_now());
	return level.left >= 1 ? 0 : too_many(res, &level, err);
}

static void failure_note(const struct request *req)
{
	char address[HTTP_ADDRESS_SIZE];

	http_address_key(req->audit->address, address);
	bucket_take(req->services->buckets, LIMIT_HOOK_FAILURES, address, seconds_now());
	deliveries_count("refused");
}

/* ---- a delivery to a repository's hook ---- */

int webhooks_receive(struct request *req, struct response *res, struct err *err)
{
	struct bucket_level level;

	if (failures_check(req, res, err) < 0)
		return -1;
	level = bucket_take(req->services->buckets, LIMIT_HOOKS, param(req, "hook"), seconds_now());
	return level.taken ? 0 : too_many(res, &level, err);
}

static const char *header_of(const void *headers, const char *name)
{
	return http_header(headers, name);
}

static struct vcs_delivery delivery_headers(const struct request *req, enum vcs_dialect dialect)
{
	return (struct vcs_delivery){
		.dialect = dialect, .header = header_of, .headers = req->http, .body = buf_bytes(&req->http->body)};
}

static int proof_check(
	const struct request *req, enum vcs_dialect dialect, const struct vcs_secrets *secrets, struct err *err)
{
	const struct vcs_delivery delivery = delivery_headers(req, dialect);

	if (vcs_proof_holds(&delivery, secrets, clock_wall_us() / 1000000))
		return 0;
	failure_note(req);
	return err_set(err, ERR_UNAUTHORIZED, "unauthorized");
}

/* Returns the JSON text of the body. Some providers can send it as the field `payload` of a form. */
static struct bytes payload_of(const struct request *req, json_t **ret_form)
{
	static const char form[] = "application/x-www-form-urlencoded";
	const char *type = http_header(req->http, "Content-Type");
	struct bytes body = buf_bytes(&req->http->body);
	struct err ignored = ERR_INIT;
	const char *payload;

	if (!type || strncasecmp(type, form, sizeof(form) - 1) != 0 ||
		form_parse(body.data, body.len, ret_form, &ignored) < 0)
		return body;
	payload = json_string_at(*ret_form, "payload");
	return payload ? text_bytes(payload) : body;
}

/* Azure DevOps names the delivery in its body. If there is no memory to read that, the provider must know: a delivery
 * without a name starts nothing. */
static int name_read(const struct request *req, enum vcs_dialect dialect, struct bytes payload,
	struct vcs_delivery_name *ret_name, struct err *err)
{
	const struct vcs_delivery delivery = delivery_headers(req, dialect);
	_cleanup_(json_document_release) struct json_document body = JSON_NO_DOCUMENT;
	struct err why = ERR_INIT;

	if (dialect == VCS_AZURE && json_document_parse(&body, payload.data, payload.len, &why) < 0 &&
		why.kind != ERR_MALFORMED) {
		*err = why;
		return -1;
	}
	vcs_delivery_name(&delivery, body.value, ret_name);
	return 0;
}

/* Fills the row with the delivery if it is proven. Otherwise the item has the error. */
static bool hook_delivery_read(struct batch_item *item, struct vcs_delivery_row *ret_row)
{
	struct delivery_item *delivery = delivery_of(item);
	const struct vcs_hook *hook = &delivery->hook;
	const struct vcs_secrets secrets = {.current = hook->secret, .previous = hook->previous};
	struct bytes payload;

	item->err = hook->err;
	if (item->err.kind == ERR_NOT_FOUND)
		failure_note(item->req);
	if (item->err.kind != ERR_NONE || proof_check(item->req, hook->dialect, &secrets, &item->err) < 0)
		return false;
	payload = payload_of(item->req, &delivery->body);
	if (name_read(item->req, hook->dialect, payload, &delivery->name, &item->err) < 0)
		return false;
	*ret_row = (struct vcs_delivery_row){.repository_id = hook->repository.text,
		.id = delivery->name.id,
		.event = delivery->name.event,
		.body = payload};
	return true;
}

/* ---- a delivery to the App's hook ---- */

/* The delivery shows only that the installation may have changed. The renewal of its token reads the changes from
 * GitHub. */
static int installation_changed(struct request *req, long long number, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (installation_find(req->store, number, &rows, err) < 0)
		return -1;
	return rows.count ? renewal_plan_installation(req->store, row_of(installation_find, &rows, 0)->id, 0, err) : 0;
}

/* A body that is not JSON, or has no installation, is accepted and dropped. */
static int app_delivery_read(struct request *req, struct delivery_item *delivery, struct err *err)
{
	const struct vcs_delivery headers = delivery_headers(req, VCS_GITHUB);
	struct err malformed = ERR_INIT;
	long long installation;

	if (json_parse(req->http->body.data, req->http->body.len, &delivery->body, &malformed) < 0)
		return 0;
	installation = json_int_at(delivery->body, "installation.id", 0);
	vcs_delivery_name(&headers, delivery->body, &delivery->name);
	if (installation <= 0)
		return 0;
	if (text_starts(delivery->name.event, "installation"))
		return installation_changed(req, installation, err);
	delivery->app = (struct app_delivery){.installation = installation,
		.repository = json_int_at(delivery->body, "repository.id", 0),
		.identifier = json_string_at(delivery->body, "repository.full_name")};
	return 0;
}

int github_app_webhook(struct request *req, struct response *res, struct err *err)
{
	const struct github_app *app = req->store->settings->github_app;
	const struct vcs_secrets secrets = {.current = app ? app->webhook_secret : NULL};
	struct delivery_item *delivery = delivery_of(req->item);

	delivery->of_app = true;
	if (failures_check(req, res, err) < 0 || proof_check(req, VCS_GITHUB, &secrets, err) < 0)
		return -1;
	return app_delivery_read(req, delivery, err);
}

/* ---- the commit ---- */

/* The items of one batch, by kind. */
struct deliveries {
	struct batch_item **hooks, **apps;
	size_t hook_count, app_count;
	struct rows app_repositories;
};

static void deliveries_release(struct deliveries *d)
{
	free(d->hooks);
	free(d->apps);
	rows_release(&d->app_repositories);
}

static void deliveries_sort(struct batch_item *const *items, size_t count, struct deliveries *ret)
{
	*ret = (struct deliveries){.hooks = mem_new(count, sizeof(*items)),
		.apps = mem_new(count, sizeof(*items)),
		.app_repositories = ROWS_INIT};
	for (size_t i = 0; i < count; i++) {
		if (!delivery_of(items[i])->of_app)
			ret->hooks[ret->hook_count++] = items[i];
		else if (delivery_of(items[i])->app.identifier)
			ret->apps[ret->app_count++] = items[i];
	}
}

static int hooks_read(struct store *store, const struct deliveries *d, struct err *err)
{
	_cleanup_(freep) struct vcs_hook *hooks = mem_new(d->hook_count + 1, sizeof(*hooks));
	int result;

	for (size_t i = 0; i < d->hook_count; i++)
		hooks[i].id = param(d->hooks[i]->req, "hook");
	result = vcs_hooks_read(store, hooks, d->hook_count, err);
	for (size_t i = 0; i < d->hook_count; i++)
		delivery_of(d->hooks[i])->hook = hooks[i];
	return result;
}

static int app_repositories_read(struct store *store, struct deliveries *d, struct err *err)
{
	_cleanup_(freep) struct app_delivery *apps = mem_new(d->app_count + 1, sizeof(*apps));

	for (size_t i = 0; i < d->app_count; i++)
		apps[i] = delivery_of(d->apps[i])->app;
	return d->app_count ? app_deliveries_find(store, apps, d->app_count, &d->app_repositories, err) : 0;
}

static struct vcs_delivery_row app_row(const struct deliveries *d, int row)
{
	const struct delivery_item *delivery =
		delivery_of(d->apps[row_of(app_deliveries_find, &d->app_repositories, row)->n]);

	return (struct vcs_delivery_row){.repository_id = row_of(app_deliveries_find, &d->app_repositories, row)->id,
		.id = delivery->name.id,
		.event = delivery->name.event,
		.body = buf_bytes(&delivery->item.req->http->body)};
}

static int deliveries_store(struct store *store, struct deliveries *d, struct err *err)
{
	_cleanup_(freep) struct vcs_delivery_row *rows = NULL;
	size_t count = 0;

	if (hooks_read(store, d, err) < 0 || app_repositories_read(store, d, err) < 0)
		return -1;
	rows = mem_new(d->hook_count + (size_t)d->app_repositories.count + 1, sizeof(*rows));
	for (size_t i = 0; i < d->hook_count; i++)
		if (hook_delivery_read(d->hooks[i], &rows[count]))
			count++;
	for (int row = 0; row < d->app_repositories.count; row++)
		rows[count++] = app_row(d, row);
	return vcs_deliveries_add(store, rows, count, err);
}

/* If the transaction fails, its error is the answer to all deliveries that were not refused before. */
static void deliveries_commit(struct store *store, struct batch_item *const *items, size_t count)
{
	_cleanup_(deliveries_release) struct deliveries d;
	struct err err = ERR_INIT;
	int result;

	deliveries_sort(items, count, &d);
	result = deliveries_store(store, &d, &err);
	if (result == 0)
		listener_wake(items[0]->req->services->vcs_events);
	for (size_t i = 0; i < count; i++) {
		if (items[i]->err.kind != ERR_NONE)
			continue;
		if (result < 0) {
			items[i]->err = err;
			continue;
		}
		deliveries_count("accepted");
		respond_empty(items[i]->res, 204);
	}
}

static void delivery_commit(struct store *store, struct batch_item *item)
{
	deliveries_commit(store, &item, 1);
}

static void delivery_release(struct batch_item *item)
{
	vcs_hook_release(&delivery_of(item)->hook);
	json_decref(delivery_of(item)->body);
}

const struct batch batch_deliveries = {.item_size = sizeof(struct delivery_item),
	.threads = 2,
	.commit = deliveries_commit,
	.commit_alone = delivery_commit,
	.item_release = delivery_release};
