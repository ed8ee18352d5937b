/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/actor.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/auth/actor.sql.h"
#include "scheduler/auth/closed.h"
#include "scheduler/auth/identity/scim_tokens.h"
#include "scheduler/auth/run_token.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/auth/tokens.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/tasks/task_calls.h"

enum { MAX_TOKEN = 512 };

_Static_assert(
	(rights)1 << BIT_CAN_READ_ORGANIZATION == 4294967296, "the fragment `memberships` has this bit as a number");

/* Takes the rows. */
static void scope_read(struct rows *rows, struct actor *actor)
{
	struct response_scope *scope = &actor->scope;

	scope->all = actor->is_site_admin;
	scope->user = actor->user;
	scope->read_only = actor->read_only;
	scope->memberships = *rows;
	*rows = (struct rows)ROWS_INIT;
	scope->owns = true;
	for (int i = 0; i < scope->memberships.count; i++)
		scope->owns &= row_of(requester, &scope->memberships, i)->rights == -1;
}

/* Takes the rows of a user. */
static void actor_read(struct rows *rows, struct actor *ret_actor)
{
	const struct requester_row *owner = row_of(requester, rows, 0);
	struct actor actor = {.kind = ACTOR_NONE};

	text_copy(actor.token.text, sizeof(actor.token.text), owner->id);
	text_copy(actor.only_workspace.text, sizeof(actor.only_workspace.text), owner->only_workspace);
	actor.read_only = owner->read_only;
	actor.first_use = owner->first_use;
	if (owner->notifier) {
		actor.kind = ACTOR_NOTIFIER;
	} else if (!owner->user_id) {
		actor.kind = ACTOR_POOL;
		text_copy(actor.pool.text, sizeof(actor.pool.text), owner->pool_id);
	} else {
		actor.kind = ACTOR_USER;
		text_copy(actor.user.text, sizeof(actor.user.text), owner->user_id);
		text_copy(actor.username, sizeof(actor.username), owner->username);
		actor.lacks_factor = owner->lacks_factor;
		actor.is_site_admin = owner->is_site_admin && !owner->lacks_factor;
		actor.is_service = owner->is_service_account;
		actor.must_confirm = owner->must_confirm;
		text_copy(actor.provider.text, sizeof(actor.provider.text), text_or_empty(owner->provider_id));
		text_copy(actor.impersonator.text, ID_SIZE, text_or_empty(owner->impersonator_id));
		text_copy(actor.impersonator_name, sizeof(actor.impersonator_name),
			text_or_empty(owner->impersonator_name));
		scope_read(rows, &actor);
		if (actor.only_workspace.text[0])
			actor.is_site_admin = false; /* the site's pages belong to no workspace */
	}
	*ret_actor = actor;
}

/* A kind of credential: the statement that finds its owner by the digest, the one that records its use, and the error.
 */
struct proof {
	const struct db_statement *find, *use;
	const char *refusal;
};

static const struct proof token = {&token_owner_statement, &token_use_statement, "the token is not valid"};

static const struct proof session = {
	&session_owner_statement, &session_use_statement, "the session is over: sign in again"};

static int owner_find(
	struct store *store, const struct proof *proof, const char *hash, struct actor *ret_actor, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query_one_of(store->db, &rows, err, proof->find, token_owner, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "%s", proof->refusal);
	if (row_of(requester, &rows, 0)->stale &&
		db_query_one_of(store->db, NULL, err, proof->use, token_owner, .hash = hash) < 0)
		return -1;
	actor_read(&rows, ret_actor);
	return 0;
}

/* A run task's token is valid while its result is open. */
static int task_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, task_token_find, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not valid, or its task is over");
	*ret_actor = (struct actor){.kind = ACTOR_TASK};
	text_copy(ret_actor->run.text, sizeof(ret_actor->run.text), row_of(task_token_find, &rows, 0)->run_id);
	return 0;
}

static int run_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err)
{
	struct run_token found;

	if (run_token_find(store, hash, &found, err) < 0)
		return -1;
	*ret_actor = (struct actor){
		.kind = ACTOR_RUN, .run = found.run, .workspace = found.workspace, .organization = found.organization};
	return 0;
}

static int scim_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err)
{
	struct scim_token found;

	if (scim_token_find(store, hash, &found, err) < 0)
		return -1;
	*ret_actor = (struct actor){.kind = ACTOR_SCIM,
		.token = found.id,
		.scim_enabled = found.is_enabled,
		.scim_paused = found.is_paused};
	return 0;
}

int actor_find(struct store *store, const char *bearer, struct actor *ret_actor, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	if (!bearer || !*bearer || strlen(bearer) > MAX_TOKEN)
		return err_set(err, ERR_UNAUTHORIZED, "a bearer token is needed");
	token_hash(bearer, hash);
	if (text_starts(bearer, TASK_TOKEN_PREFIX))
		return task_find(store, hash, ret_actor, err);
	if (text_starts(bearer, RUN_TOKEN_PREFIX))
		return run_find(store, hash, ret_actor, err);
	if (text_starts(bearer, SCIM_TOKEN_PREFIX))
		return scim_find(store, hash, ret_actor, err);
	return owner_find(store, &token, hash, ret_actor, err);
}

int actor_of_session(struct store *store, const char *cookie, struct actor *ret_actor, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	session_hash(cookie, hash);
	return owner_find(store, &session, hash, ret_actor, err);
}

void actor_release(struct actor *actor)
{
	response_scope_release(&actor->scope);
}

/* Reads the rights that the actor's teams have in the place; in the whole organization and everything in it if the
 * place names neither project nor workspace. */
static int given_read(
	struct store *store, const struct actor *actor, struct place place, rights *ret_given, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	bool anywhere = !place.project && !place.workspace;
	int result;

	if (anywhere)
		result = db_query(store->db, &rows, err, rights_given_anywhere, .user = actor->user.text,
			.organization = place.organization);
	else if (place.workspace)
		result = db_query(store->db, &rows, err, rights_given_in_workspace, .user = actor->user.text,
			.organization = place.organization, .workspace = place.workspace);
	else
		result = db_query(store->db, &rows, err, rights_given_in_project, .user = actor->user.text,
			.organization = place.organization, .project = place.project);
	if (result == 0)
		*ret_given = (rights)row_of(given_rights, &rows, 0)->rights;
	return result;
}

/* ---- the first use ---- */

struct first_use {
	struct store *store;
	struct audit_event *event;
};

static int note_in(void *data, struct err *err)
{
	struct first_use *use = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(use->store->db, &rows, err, token_use_note, .id = use->event->token) < 0)
		return -1;
	if (!rows.count)
		return 0;
	use->event->organization = row_of(token_use_note, &rows, 0)->organization_id;
	return audit_write(use->store, use->event, err);
}

int actor_note_first_use(struct store *store, struct audit_event *event, struct err *err)
{
	struct first_use use = {store, event};

	return db_transaction(store->db, note_in, &use, err);
}

/* ---- checks ---- */

/* A token of one workspace: also what the routes show of its organization (api/server/authenticate.c). */
static bool scope_allows(const struct actor *actor, enum permission permission, struct place place)
{
	if (!actor->only_workspace.text[0])
		return true;
	if (place.workspace)
		return text_equal(place.workspace, actor->only_workspace.text);
	return permission_rows[permission].bit < 0 || permission == CAN_READ_ORGANIZATION;
}

/* Tokens of teams and organizations are not those of people. */
static int actor_check_closed(const struct actor *actor, const char *organization_id, struct err *err)
{
	if (actor->is_service)
		return 0;
	return closed_check(row_of(requester, &actor->scope.memberships, 0)->closed, organization_id, err);
}

int actor_factor_check(const struct actor *actor, struct err *err)
{
	return actor->lacks_factor
		? err_set(err, ERR_FORBIDDEN, "site admins need two-factor authentication: set it up at " FACTORS_PATH)
		: 0;
}

/* A site admin who acts as a person sees no secrets of theirs. */
static bool permission_reveals(enum permission permission)
{
	return permission == CAN_READ_STATE || permission == CAN_READ_OUTPUTS || permission == CAN_READ_PLAN_JSON ||
		permission == CAN_READ_MOCKS;
}

int actor_may(
	struct store *store, const struct actor *actor, enum permission permission, struct place place, struct err *err)
{
	const struct permission_row *row = &permission_rows[permission];
	rights wanted = row->bit < 0 ? right_of(CAN_READ_ORGANIZATION) : right_of(permission);
	rights held = actor->kind == ACTOR_USER ? response_scope_rights(&actor->scope, place.organization) : 0;

	if (actor->kind == ACTOR_RUN)
		return run_token_may(store, &(struct run_token){actor->run, actor->workspace, actor->organization},
			permission, place, err);
	if (!scope_allows(actor, permission, place))
		return err_set(err, ERR_NOT_FOUND, "not found");
	if (actor_factor_check(actor, err) < 0 || (held && actor_check_closed(actor, place.organization, err) < 0))
		return -1;
	if (held && !(held & wanted) && (row->where == PROJECT || row->where == WORKSPACE)) {
		rights given = 0;

		if (given_read(store, actor, place, &given, err) < 0)
			return -1;
		held |= given;
	}
	if (!(held & wanted))
		return err_set(err, ERR_NOT_FOUND, "not found");
	if (actor->impersonator.text[0] && permission_reveals(permission))
		return err_set(err, ERR_FORBIDDEN, "secrets can't be read while you act as another user");
	return 0;
}

int actor_may_for_task(struct store *store, const struct actor *actor, const char *run_id,
	const char *configuration_version_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (actor->kind != ACTOR_TASK)
		return err_set(err, ERR_NOT_FOUND, "not found");
	if (db_query(store->db, &rows, err, task_reads, .own_run_id = actor->run.text, .run_id = run_id,
		    .configuration_version_id = configuration_version_id) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_NOT_FOUND, "not found");
}
