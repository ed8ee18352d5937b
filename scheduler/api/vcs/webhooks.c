/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <stdio.h>
#include <strings.h>
#include <time.h>

#include "common/clock.h"
#include "common/http/http_clients.h"
#include "scheduler/auth/buckets.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/form.h"
#include "scheduler/metrics.h"
#include "scheduler/store/vcs/hooks.h"
#include "scheduler/vcs/proof.h"

/*
 * What providers send to the hooks of repositories. The answer is given when the delivery has committed; the VCS thread
 * reads it later (background/vcs.h). A delivery that is not interesting, or that was sent before, is answered like any
 * other: providers disable hooks that fail.
 */

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

/* A hook has a limit of its own, since all hooks of a provider come from few addresses. An address has one for failures
 * alone: it is checked before the database is asked. */
static int limits_check(const struct request *req, struct response *res, const char *hook, struct err *err)
{
	char address[HTTP_ADDRESS_SIZE];
	struct bucket_level level;

	http_address_key(req->audit->address, address);
	level = bucket_take(req->services->buckets, LIMIT_HOOK_FAILURES, address, seconds_now());
	if (!level.taken)
		return too_many(res, &level, err);
	bucket_return(req->services->buckets, LIMIT_HOOK_FAILURES, address, seconds_now());
	level = bucket_take(req->services->buckets, LIMIT_HOOKS, hook, seconds_now());
	return level.taken ? 0 : too_many(res, &level, err);
}

static void failure_note(const struct request *req)
{
	char address[HTTP_ADDRESS_SIZE];

	http_address_key(req->audit->address, address);
	bucket_take(req->services->buckets, LIMIT_HOOK_FAILURES, address, seconds_now());
	deliveries_count("refused");
}

/* ---- the delivery ---- */

static const char *header_of(const void *headers, const char *name)
{
	return http_header(headers, name);
}

static int proof_check(const struct request *req, const struct vcs_hook *hook, struct err *err)
{
	const struct vcs_delivery delivery = {.dialect = hook->dialect,
		.header = header_of,
		.headers = req->http,
		.body = buf_bytes(&req->http->body)};
	const struct vcs_secrets secrets = {.current = hook->secret, .previous = hook->previous};

	if (vcs_proof_holds(&delivery, &secrets, (long long)time(NULL)))
		return 0;
	return err_set(err, ERR_UNAUTHORIZED, "unauthorized");
}

/* The JSON of the body. Some providers can send it as the field `payload` of a form. */
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

/* Azure DevOps names the delivery in its body. */
static void delivery_name(
	const struct request *req, enum vcs_dialect dialect, struct bytes payload, struct vcs_delivery_name *ret_name)
{
	const struct vcs_delivery delivery = {
		.dialect = dialect, .header = header_of, .headers = req->http, .body = buf_bytes(&req->http->body)};
	json_auto_t *body = NULL;
	struct err ignored = ERR_INIT;

	if (dialect == VCS_AZURE)
		json_parse(payload.data, payload.len, &body, &ignored);
	vcs_delivery_name(&delivery, body, ret_name);
}

static int delivery_store(const struct request *req, const struct vcs_hook *hook, struct err *err)
{
	json_auto_t *form = NULL;
	struct bytes payload = payload_of(req, &form);
	struct vcs_delivery_name name;

	delivery_name(req, hook->dialect, payload, &name);
	return vcs_delivery_add(req->store,
		&(struct vcs_delivery_row){
			.repository_id = hook->repository.text, .id = name.id, .event = name.event, .body = payload},
		err);
}

int webhooks_receive(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(vcs_hook_release) struct vcs_hook hook = VCS_HOOK_INIT;
	const char *id = param(req, "hook");

	if (limits_check(req, res, id, err) < 0)
		return -1;
	if (vcs_hook_read(req->store, id, &hook, err) < 0 || proof_check(req, &hook, err) < 0) {
		if (err->kind == ERR_UNAUTHORIZED || err->kind == ERR_NOT_FOUND)
			failure_note(req);
		return -1;
	}
	if (delivery_store(req, &hook, err) < 0)
		return -1;
	deliveries_count("accepted");
	return respond_empty(res, 204);
}
