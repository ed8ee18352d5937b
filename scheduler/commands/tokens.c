/* SPDX-License-Identifier: MPL-2.0 */
/* `tokens` lists, makes and revokes tokens of an agent pool, the notifiers or a user. */
#include <stdio.h>

#include "scheduler/auth/tokens.h"
#include "scheduler/auth/tokens.sql.h"
#include "scheduler/commands/command.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/users.h"
#include "scheduler/store/workers/pools.h"

enum { MAX_SHOWN = 10000 };

static const struct command_column columns[] = {
	{"ID", "id", 0},
	{"DESCRIPTION", "description", 0},
	{"CREATED", "created-at", COMMAND_TIME},
	{"USED", "last-used-at", COMMAND_TIME},
	{"EXPIRES", "expired-at", COMMAND_TIME},
	{NULL, NULL, 0},
};

/* The owner of the tokens, from the options. */
struct owner {
	struct pool_name pool;
	struct id user;
	bool notifier;
};

static int owner_read(struct store *store, const struct command_line *line, struct owner *ret_owner, struct err *err)
{
	const char *pool = command_option(line, "pool"), *user = command_option(line, "user");

	*ret_owner = (struct owner){.notifier = command_option(line, "notifier") != NULL};
	if (line->option_count != 1)
		return command_usage(line, err);
	if (pool)
		return pool_find(store, pool, &ret_owner->pool, err);
	return user ? user_find(store, user, &ret_owner->user, err) : 0;
}

static const char *id_or_null(const struct id *id)
{
	return *id->text ? id->text : NULL;
}

static int tokens_show(struct store *store, const struct command_line *line, const struct owner *owner, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct token_list list = {.user_id = id_or_null(&owner->user),
		.pool_id = id_or_null(&owner->pool.id),
		.notifier = owner->notifier,
		.limit = MAX_SHOWN};
	json_auto_t *items = json_array();

	if (tokens_list(store, &list, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count && row_of(token, &rows, i)->id; i++) {
		const struct token_row *token = row_of(token, &rows, i);

		json_array_append_new(items,
			json_pack("{ss so ss so so}", "id", token->id, "description",
				json_string_or_null(token->description), "created-at", token->created_at,
				"last-used-at", json_string_or_null(token->last_used_at), "expired-at",
				json_string_or_null(token->expired_at)));
	}
	command_print(line, items, columns);
	return 0;
}

/* ---- changes ---- */

struct change {
	struct store *store;
	const struct owner *owner;
	const char *description; /* of a new token */
	const char *revoked;     /* the id of the one to revoke */
	char *token;
	struct id id;
};

static int audit_change(const struct change *c, const char *organization, struct err *err)
{
	const struct audit_event event = {.organization = organization,
		.action = c->revoked ? "destroy" : "create",
		.resource_type = "authentication_token",
		.resource_id = c->revoked ? c->revoked : c->id.text};

	return audit_write_system(c->store, &event, err);
}

static int make_in(void *data, struct err *err)
{
	struct change *c = data;
	const struct token_order order = {.user_id = id_or_null(&c->owner->user),
		.pool_id = id_or_null(&c->owner->pool.id),
		.notifier = c->owner->notifier,
		.description = c->description};

	free(c->token);
	c->token = NULL;
	if (token_create(c->store, &order, &c->token, &c->id, err) < 0)
		return -1;
	return audit_change(c, id_or_null(&c->owner->pool.organization), err);
}

static int revoke_in(void *data, struct err *err)
{
	struct change *c = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (token_read(c->store, c->revoked, &rows, err) < 0 || token_delete(c->store, c->revoked, err) < 0)
		return -1;
	return audit_change(c, row_of(token, &rows, 0)->organization_id, err);
}

static int token_make(struct store *store, const struct owner *owner, const char *description, struct err *err)
{
	struct change c = {.store = store, .owner = owner, .description = description};
	int result = db_transaction(store->db, make_in, &c, err);

	if (result == 0) {
		json_auto_t *made = json_pack("{ss ss}", "id", c.id.text, "token", c.token);

		command_print_json(made);
	}
	free(c.token);
	return result;
}

int command_tokens(struct scheduler *s, const struct command_line *line, struct err *err)
{
	struct change revocation = {.store = &s->store, .revoked = line->count == 2 ? line->arguments[1] : NULL};
	struct owner owner;

	if (line->count == 2 && text_equal(line->arguments[0], "revoke") && !line->option_count)
		return db_transaction(s->store.db, revoke_in, &revocation, err);
	if (owner_read(&s->store, line, &owner, err) < 0)
		return -1;
	if (!line->count)
		return tokens_show(&s->store, line, &owner, err);
	if (line->count < 2 || !text_equal(line->arguments[0], "make") || !*line->arguments[1])
		return command_usage(line, err);
	return token_make(&s->store, &owner, line->arguments[1], err);
}
