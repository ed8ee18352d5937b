/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/actor.h"

#include <string.h>

#include "scheduler/store/task_calls.h"

enum { TOKEN_MOST = 512 };

static int token_used(struct store *store, const char *token_id, struct err *err)
{
	return db_query(store->db, NULL, err, "update tokens set last_used_at = now() where id = $1", P_TEXT(token_id));
}

static void actor_read(const struct rows *rows, struct actor *ret_actor)
{
	struct actor actor = {.kind = ACTOR_NONE};

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
	}
	*ret_actor = actor;
}

/* A run task's token lives as long as its result is open. */
static int task_find(struct store *store, const char *hash, struct actor *ret_actor, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select run_id from task_results where token_hash = $1 and status in ('pending', 'running')",
		    P_TEXT(hash)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not valid, or its task is over");
	*ret_actor = (struct actor){.kind = ACTOR_TASK};
	text_copy(ret_actor->run.text, sizeof(ret_actor->run.text), row_text(&rows, 0, "run_id"));
	return 0;
}

int actor_find(struct store *store, const char *token, struct actor *ret_actor, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char hash[SHA256_HEX_SIZE];

	if (!token || !*token || strlen(token) > TOKEN_MOST)
		return err_set(err, ERR_UNAUTHORIZED, "a bearer token is needed");
	crypto_sha256_hex(token, strlen(token), hash);
	if (text_starts(token, TASK_TOKEN_PREFIX))
		return task_find(store, hash, ret_actor, err);
	if (db_query(store->db, &rows, err,
		    "select t.id, t.user_id, t.pool_id, t.notifier, u.username, u.is_site_admin, "
		    "coalesce(t.last_used_at < now() - interval '1 minute', true) as stale "
		    "from tokens t left join users u on u.id = t.user_id "
		    "where t.hash = $1 and (t.expired_at is null or t.expired_at > now())",
		    P_TEXT(hash)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_UNAUTHORIZED, "the token is not valid");
	if (row_bool(&rows, 0, "stale") && token_used(store, row_text(&rows, 0, "id"), err) < 0)
		return -1;
	actor_read(&rows, ret_actor);
	return 0;
}

int actor_may(struct store *store, const struct actor *actor, enum permission permission, const char *organization_id,
	const char *what, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* Whatever it is: today an organization's members may all of it. */
	(void)permission;
	if (actor->kind == ACTOR_USER && actor->is_site_admin)
		return 0;
	if (actor->kind != ACTOR_USER)
		return err_set(err, ERR_NOT_FOUND, "%s not found", what);
	if (db_query(store->db, &rows, err,
		    "select 1 from organization_memberships where organization_id = $1 and user_id = $2",
		    P_TEXT(organization_id), P_TEXT(actor->user.text)) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_NOT_FOUND, "%s not found", what);
}

int actor_may_for_task(struct store *store, const struct actor *actor, const char *run_id,
	const char *configuration_version_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (actor->kind != ACTOR_TASK)
		return err_set(err, ERR_NOT_FOUND, "not found");
	if (db_query(store->db, &rows, err,
		    "select 1 from run_inputs where run_id = $1 and ($2::text is null or run_id = $2) "
		    "and ($3::text is null or configuration_version_id = $3)",
		    P_TEXT(actor->run.text), P_TEXT(run_id), P_TEXT(configuration_version_id)) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_NOT_FOUND, "not found");
}
