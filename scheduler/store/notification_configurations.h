/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATION_CONFIGURATIONS_H
#define SCHEDULER_STORE_NOTIFICATION_CONFIGURATIONS_H

/*
 * Who wants to be told of what happens in a workspace, in a project's workspaces or to a team (the subscribable), and
 * what their servers answered last.
 *
 * Columns read: the table's, `triggers_json`, `emails_json`, `users` (ids) and `responses` (the latest first), as JSON.
 * URLs are sealed (store/notification_urls.h).
 */

#include "scheduler/store/store.h"

enum { NOTIFICATION_TOKEN_LIMIT = 4096, MOST_NOTIFICATION_CONFIGURATIONS = 20 };

/* What the token is sealed for. */
#define NOTIFICATION_TOKEN_CONTEXT "notification-token"

/* What a configuration can belong to. */
enum subscribable { OF_WORKSPACE, OF_PROJECT, OF_TEAM, SUBSCRIBABLES };

/* What a server answered. */
struct notification_response {
	const char *url, *code, *body; /* text that may be shown */
	const json_t *headers;
	bool successful;
};

struct notification_configuration {
	const char *id;
	enum subscribable kind;      /* to create it */
	const char *subscribable_id; /* likewise */
	const char *name, *destination_type;
	const char *url;        /* NULL for e-mail */
	const char *token;      /* "" takes it away; NULL: as it is */
	const char *updated_at; /* when it was read, to change it: ERR_CONFLICT if it was changed since */
	bool enabled;
	const json_t *triggers, *email_addresses;
	const json_t *users;                          /* ids; NULL: as they are */
	const struct notification_response *verified; /* what its verification was answered; NULL: there was none */
};

/* The columns id and organization_id; ERR_NOT_FOUND. */
int subscribable_read(
	struct store *store, enum subscribable kind, const char *id, struct rows *ret_rows, struct err *err);

/* By age, with `total`; a row with a null id if the page is empty. */
int notification_configurations_list(struct store *store, enum subscribable kind, const char *subscribable_id,
	long long limit, long long offset, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int notification_configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Appends a row's token; nothing if it has none. */
int notification_token_open(
	struct store *store, const struct rows *rows, int row, struct buf *ret_token, struct err *err);

/* ERR_INVALID for users who are no members, and if the subscribable has as many as it may. */
int notification_configuration_create(
	struct store *store, const struct notification_configuration *configuration, struct err *err);
/* What is on its way of one that is disabled now is not sent any more. */
int notification_configuration_update(
	struct store *store, const struct notification_configuration *configuration, struct err *err);
int notification_configuration_delete(struct store *store, const char *id, struct err *err);

/* Keeps an answer, and the few before it. */
int notification_response_add(struct store *store, const char *configuration_id,
	const struct notification_response *response, struct err *err);
/* Forgets all but the latest few of these configurations. */
int notification_responses_trim(struct store *store, struct db_array *configuration_ids, struct err *err);

#endif
