/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/authenticate.h"

#include <string.h>
#include <strings.h>

#include "scheduler/api/api.h"
#include "scheduler/api/internal/run_tokens.h"
#include "scheduler/api/server/scoped_tokens.h"
#include "scheduler/auth/scope_guess.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/path/path_object.h"
#include "scheduler/runs/claim.h"
#include "scheduler/runs/job_grants.h"
#include "scheduler/store/runs/uploads.h"
#include "scheduler/store/tasks/task_calls.h"
#include "scheduler/store/vcs/git_jobs.h"

/* A site admin who acts as a user makes no tokens with the user's rights, and does not end the user's sessions. */
static bool is_own_matter(const struct route *route)
{
	static const handler_fn handlers[] = {tokens_create, team_tokens_create, team_token_create,
		organization_token_create, agent_tokens_create, notifier_tokens_create, admin_scim_tokens_create,
		account_update, account_password, account_sessions_delete, account_sessions_delete_others};

	for (size_t i = 0; i < ARRAY_LEN(handlers); i++)
		if (route->handler == handlers[i])
			return true;
	return false;
}

/* Second factors that the site needs of its admins, and what is refused while one acts as the user. */
static int person_check(const struct request *req, struct err *err)
{
	if (req->actor.impersonator.text[0] && is_own_matter(req->route))
		return err_set(err, ERR_FORBIDDEN, "this can't be done while you act as another user");
	if (req->route->permission != CAN_ADMINISTER_SITE)
		return 0;
	return actor_factor_check(&req->actor, err);
}

int actor_accepted(const struct request *req, struct err *err)
{
	const struct actor *actor = &req->actor;
	enum permission gate = req->route->permission;
	bool user = actor->kind == ACTOR_USER;

	if (gate == CAN_WORK && actor->kind != ACTOR_POOL)
		return err_set(err, ERR_UNAUTHORIZED, "an agent token is needed here");
	if (gate == CAN_NOTIFY && actor->kind != ACTOR_NOTIFIER)
		return err_set(err, ERR_UNAUTHORIZED, "a notifier's token is needed here");
	if (gate == CAN_PROVISION && actor->kind != ACTOR_SCIM)
		return err_set(err, ERR_UNAUTHORIZED, "a SCIM token is needed here");
	if (gate == CAN_WORK || gate == CAN_NOTIFY || gate == CAN_PROVISION)
		return 0;
	if (gate == CAN_ANYTHING_SIGNED_IN || gate == CAN_ADMINISTER_SITE)
		user = user && !actor->is_service &&
			(gate != CAN_ADMINISTER_SITE || actor->is_site_admin || actor->lacks_factor);
	if (gate == CAN_ADMINISTER_SITE && user && actor->must_confirm)
		return err_set(err, ERR_FORBIDDEN, "confirm who you are first: %s/oidc/%s/sign-in?purpose=confirm",
			req->store->settings->public_url, actor->provider.text);
	if (actor->kind == ACTOR_RUN)
		return run_token_check(req, err);
	if (gate == CAN_READ_PLAN_JSON || gate == CAN_DOWNLOAD_CONFIGURATION)
		user = user || actor->kind == ACTOR_TASK;
	if (!user)
		return err_set(err, ERR_NOT_FOUND, "not found");
	return person_check(req, err) < 0 ? -1 : scoped_token_check(req, err);
}

static struct audit_event first_use_event(const struct request *req)
{
	const struct actor *actor = &req->actor;
	bool person = actor->kind == ACTOR_USER && !actor->is_service;

	return (struct audit_event){.actor_type = actor->kind == ACTOR_POOL ? "agent-pool"
			: actor->kind == ACTOR_NOTIFIER                     ? "notifier"
			: person                                            ? "user"
									    : "service-account",
		.actor_id = actor->kind == ACTOR_POOL ? actor->pool.text : actor->user.text,
		.actor_name = actor->username,
		.token = actor->token.text,
		.address = req->audit->address,
		.request = req->audit->request,
		.action = "first_use",
		.resource_type = "authentication_token",
		.resource_id = actor->token.text};
}

/* Reading the audit trail is no use that it would show. A request that is authenticated for its body alone has no note:
 * it is authenticated again before it is handled. */
static int first_use_note(struct request *req, struct err *err)
{
	handler_fn handler = req->route->handler;
	struct audit_event event;

	if (!req->actor.first_use || !req->audit || handler == audit_trail_own || handler == audit_trail_index)
		return 0;
	if (!req->audit->request[0])
		audit_uuid(req->audit->request);
	event = first_use_event(req);
	return actor_note_first_use(req->store, &event, err);
}

void bearer_read(struct request *req)
{
	const char *header = http_header(req->http, "Authorization");

	if (header && strncasecmp(header, "Bearer ", 7) == 0)
		req->bearer = header + 7 + strspn(header + 7, " ");
}

static int credential_read(struct request *req, const char *cookie, struct err *err)
{
	if (cookie)
		return actor_of_session(req->store, cookie, &req->actor, err);
	return actor_find(req->store, req->bearer, &req->actor, err);
}

/* Reads the caller, and in the same round trip the object that the path names if this thread knows the credential. */
static int caller_read(struct request *req, const char *cookie, struct err *err)
{
	const char *credential = cookie ? cookie : text_or_empty(req->bearer);
	struct response_scope guess = {.all = false};
	bool guessed = scope_guess(credential, &guess);
	struct db *db = req->store->db;
	int result = 0;

	db_gather(db);
	if (guessed)
		result = path_object_ask(req, &guess, err);
	if (result == 0)
		result = credential_read(req, cookie, err);
	result = db_gathered(db, result, err);
	if (result < 0 && guessed && db_outdated(db)) {
		path_object_release(req->object);
		return credential_read(req, cookie, err);
	}
	if (result < 0 || req->actor.kind != ACTOR_USER || (guessed && scope_guess_right(&guess, &req->actor.scope)))
		return result;
	if (guessed)
		path_object_release(req->object);
	scope_remember(credential, &req->actor.scope);
	return 0;
}

/* Browsers attach cookies to cross-site requests too. So a change with a session cookie needs the CSRF token as
 * well. */
static int request_actor(struct request *req, struct err *err)
{
	bool has_token = http_header(req->http, "Authorization") != NULL;
	const char *cookie = has_token ? NULL : http_cookie(req->http, SESSION_COOKIE);

	if (!cookie || !*cookie)
		return caller_read(req, NULL, err);
	if (caller_read(req, cookie, err) < 0)
		return -1;
	if (text_equal(req->route->method, "GET") ||
		session_csrf_valid(req->store, cookie, http_header(req->http, "X-CSRF-Token")))
		return 0;
	return err_set(err, ERR_FORBIDDEN, "a change that a browser asks for needs the header X-CSRF-Token");
}

int request_authenticate(struct request *req, struct err *err)
{
	switch (req->route->permission) {
	case CAN_WITHOUT_TOKEN:
	case CAN_DELIVER:
	case CAN_KEEP_LEASES:
	case CAN_WORK_ON_JOB:
		return 0;
	case CAN_WITH_SIGNATURE:
		if (signed_valid(req->store->keyring, req->http->path))
			return 0;
		return err_set(err, ERR_NOT_FOUND, "the address is not signed, or has expired");
	case CAN_CALL_BACK:
		return task_token_check(req->store, param(req, "result"), req->bearer, err);
	default:
		if (request_actor(req, err) < 0 || first_use_note(req, err) < 0)
			return -1;
		return actor_accepted(req, err);
	}
}

bool bearer_is_of_job(const struct request *req)
{
	return job_token_valid(req->store, param(req, "job"), req->bearer) ||
		git_job_token_valid(req->store, param(req, "git_job"), req->bearer) ||
		plan_token_valid(req->store, text_or_empty(query(req, "plan")), req->bearer);
}
