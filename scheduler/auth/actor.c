/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/actor.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/auth/actor.sql.h"
#include "scheduler/auth/credentials.h"
#include "scheduler/auth/run_token.h"
#include "scheduler/auth/sessions.h"
#include "scheduler/store/tasks/task_calls.h"

enum { MAX_TOKEN = 512 };

/* Takes the rows. */
static void scope_read(struct rows *rows, struct actor *actor)
{
	struct response_scope *scope = &actor->scope;

	scope->all = actor->is_site_admin;
	scope->user = actor->user;
	scope->memberships = *rows;
	*rows = (struct rows)ROWS_INIT;
	scope->owns = true;
	for (int i = 0; i < scope->memberships.count; i++)
		scope->owns &= row_int(&scope->memberships, i, "rights") == -1;
}

/* Takes the rows of a user. */
static void actor_read(struct rows *rows, struct actor *ret_actor)
{
	struct actor actor = {.kind = ACTOR_NONE};

	text_copy(actor.token.text, sizeof(actor.token.text), row_text(rows, 0, "id"));
	if (row_bool(rows, 0, "notifier")) {
		actor.kind = ACTOR_NOTIFIER;
	} else if (row_null(rows, 0, "user_id")) {
		actor.kind = ACTOR_POOL;
		text_copy(actor.pool.text, sizeof(actor.pool.text), row_text(rows, 0, "pool_id"));
	} else {
		actor.kind = ACTOR_USER;
		text_copy(actor.user.text, sizeof(actor.user.text), row_text(rows, 0, "user_id"));
		text_copy(actor.username, sizeof(actor.username), row_text(rows, 0, "username"));
		actor.is_site_admin = row_bool(rows, 0, "is_site_admin");
		actor.is_service = row_bool(rows, 0, "is_service_account");
		scope_read(rows, &actor);
	}
	*ret_actor = actor;
}

/* A kind of credential: the query that finds its row by the digest, the statement that records its use, and the
 * error. */
struct proof {
	const char *find, *use, *refusal;
};

/* Makes the statement's commit asynchronous, so that a read does not wait for the disk. A crash of PostgreSQL may lose
 * the time of a use. */
#define RELAXED "with relaxed as (select set_config('synchronous_commit', 'off', true)) "

static const struct proof token = {
	"select k.id, k.user_id, k.pool_id, k.notifier, u.username, u.is_site_admin, "
	"u.is_service_account, o.organization_id, o.rights, " CLOSED(
		"k.user_id") "as closed, coalesce(k.last_used_at < now() - interval '1 minute', true) as stale "
			     "from tokens k left join users u on u.id = k.user_id " MEMBERSHIPS
			     "where k.hash = $1 and " TOKEN_VALID "and u.is_suspended is not true",
	RELAXED "update tokens set last_used_at = now() from relaxed where hash = $1",
	"the token is not valid",
};

static const struct proof session = {
	"select null as id, s.user_id, null as pool_id, false as notifier, u.username, u.is_site_admin, "
	"u.is_service_account, o.organization_id, o.rights, null as closed, "
	"s.last_seen_at < now() - interval '1 minute' as stale "
	"from sessions s join users u on u.id = s.user_id and not u.is_suspended " MEMBERSHIPS SESSION_LIMITS
	"where s.hash = $1 and " SESSION_VALID,
	RELAXED "update sessions set last_seen_at = now() from relaxed where hash = $1",
	"the session is over: sign in again",
};

static int owner_find(
	struct store *store, const struct proof *proof, const char *hash, struct actor *ret_actor, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query_sql(store->db, &rows, err, proof->find, P_TEXT(hash)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "%s", proof->refusal);
	if (row_bool(&rows, 0, "stale") && db_query_sql(store->db, NULL, err, proof->use, P_TEXT(hash)) < 0)
		return -1;
	actor_read(&rows, ret_actor);
	return 0;
}

/* A run task's token is valid while its result is open. */
static int task_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, task_find, .hash = hash) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not valid, or its task is over");
	*ret_actor = (struct actor){.kind = ACTOR_TASK};
	text_copy(ret_actor->run.text, sizeof(ret_actor->run.text), row_of(task_find, &rows, 0)->run_id);
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

int actor_find(struct store *store, const char *bearer, struct actor *ret_actor, struct err *err)
{
	char hash[SHA256_HEX_SIZE];

	if (!bearer || !*bearer || strlen(bearer) > MAX_TOKEN)
		return err_set(err, ERR_UNAUTHORIZED, "a bearer token is needed");
	crypto_sha256_hex(bearer, strlen(bearer), hash);
	if (text_starts(bearer, TASK_TOKEN_PREFIX))
		return task_find(store, hash, ret_actor, err);
	if (text_starts(bearer, RUN_TOKEN_PREFIX))
		return run_find(store, hash, ret_actor, err);
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
		result = db_query(store->db, &rows, err, given_read, .user = actor->user.text,
			.organization = place.organization);
	else if (place.workspace)
		result = db_query(store->db, &rows, err, given_read_read_2, .user = actor->user.text,
			.organization = place.organization, .workspace = place.workspace);
	else
		result = db_query(store->db, &rows, err, given_read_read_3, .user = actor->user.text,
			.organization = place.organization, .project = place.project);
	if (result == 0)
		*ret_given = (rights)row_of(given, &rows, 0)->rights;
	return result;
}

/* ---- checks ---- */

static bool actor_shut_out(const struct actor *actor, const char *organization_id)
{
	const char *closed = row_text(&actor->scope.memberships, 0, "closed");
	char between[ID_SIZE + 2];

	snprintf(between, sizeof(between), ",%s,", organization_id);
	return closed && !actor->is_service && strstr(closed, between);
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
	if (held && actor_shut_out(actor, place.organization))
		return err_set(err, ERR_UNAUTHORIZED, "the organization takes no tokens of people");
	if (held && !(held & wanted) && (row->where == PROJECT || row->where == WORKSPACE)) {
		rights given = 0;

		if (given_read(store, actor, place, &given, err) < 0)
			return -1;
		held |= given;
	}
	return held & wanted ? 0 : err_set(err, ERR_NOT_FOUND, "not found");
}

int actor_may_for_task(struct store *store, const struct actor *actor, const char *run_id,
	const char *configuration_version_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (actor->kind != ACTOR_TASK)
		return err_set(err, ERR_NOT_FOUND, "not found");
	if (db_query(store->db, &rows, err, actor_may_for_task, .run = actor->run.text, .run_id = run_id,
		    .configuration_version_id = configuration_version_id) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_NOT_FOUND, "not found");
}
