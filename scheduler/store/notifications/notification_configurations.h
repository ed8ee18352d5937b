/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATION_CONFIGURATIONS_H
#define SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATION_CONFIGURATIONS_H

/*
 * Notification configurations, and the latest responses of their servers. A configuration subscribes to events of a
 * workspace, of a project's workspaces or of a team (the subscribable).
 *
 * Rows are notification_configuration_row. URLs are sealed (store/notifications/notification_urls.h).
 */

#include "scheduler/store/store.h"

enum { NOTIFICATION_TOKEN_LIMIT = 4096, MAX_NOTIFICATION_CONFIGURATIONS = 20 };

/* The context that the token is sealed with. */
#define NOTIFICATION_TOKEN_CONTEXT "notification-token"

/* The kinds of owners of a configuration. */
enum subscribable { OF_WORKSPACE, OF_PROJECT, OF_TEAM, SUBSCRIBABLES };

/* The response of a server. */
struct notification_response {
	const char *url, *code, *body; /* safe to display */
	const json_t *headers;
	bool successful;
};

struct notification_configuration {
	const char *id;
	enum subscribable kind;      /* only to create it */
	const char *subscribable_id; /* only to create it */
	const char *name, *destination_type;
	const char *url;        /* NULL for e-mail */
	const char *token;      /* "" deletes it; NULL: unchanged */
	const char *updated_at; /* as the caller read it, for updates: ERR_CONFLICT if it has changed since */
	bool enabled;
	const json_t *triggers, *email_addresses;
	const json_t *users;                          /* ids; NULL: unchanged */
	const struct notification_response *verified; /* the response to its verification; NULL: it was not verified */
};

/* One subscribable_row; ERR_NOT_FOUND. */
int subscribable_read(
	struct store *store, enum subscribable kind, const char *id, struct rows *ret_rows, struct err *err);

struct notification_configuration_list {
	enum subscribable kind;
	const char *subscribable_id;
	long long limit, offset;
};
/* Sorted by age, with `total`; a row with a null id if the page is empty. */
int notification_configurations_list(struct store *store, const struct notification_configuration_list *list,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int notification_configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Appends a configuration's token; nothing if it is null. */
int notification_token_open(struct store *store, struct db_hex sealed, struct buf *ret_token, struct err *err);

/* ERR_INVALID for users who are not members, and if the subscribable has the maximum number of configurations. */
int notification_configuration_create(
	struct store *store, const struct notification_configuration *configuration, struct err *err);
/* Disabling a configuration deletes its pending notifications. */
int notification_configuration_update(
	struct store *store, const struct notification_configuration *configuration, struct err *err);
int notification_configuration_delete(struct store *store, const char *id, struct err *err);

/* Stores a response, and deletes all but the latest few. */
int notification_response_add(struct store *store, const char *configuration_id,
	const struct notification_response *response, struct err *err);
/* Deletes all but the latest few responses of these configurations. */
int notification_responses_trim(struct store *store, struct db_array *configuration_ids, struct err *err);

#endif
