/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_AUDIT_H
#define SCHEDULER_STORE_ACCESS_AUDIT_H

/*
 * The audit trail of all changes. Each change writes one row, in its own transaction, and one message on
 * runyard.events. A row has names of attributes and never their values; its details say what the names can't, such as
 * how a person signed in. Rows are kept after the resource is deleted.
 */

#include "common/ids.h"
#include "common/json/json.h"
#include "scheduler/outbox/outbox.h"
#include "scheduler/store/store.h"

enum { AUDIT_UUID_SIZE = 37, AUDIT_TEXT = 160 };

/* Strings that are NULL or empty are unknown. All are borrowed. */
struct audit_event {
	const char *organization; /* NULL: the site's own */
	const char *actor_type;   /* "user", "organization", "signed", "system", ... */
	const char *actor_id, *actor_name;
	const char *token; /* the token's id */
	const char *address;
	const char *request; /* the request's id */
	const char *action;  /* "create", "update", "destroy", "lock", ... */
	const char *resource_type, *resource_id;
	const char *workspace;
	struct db_array *attributes; /* names; NULL: none */
	const json_t *details;       /* an object of texts, which holds no secret; NULL: none */
};

/* Generates a random UUID, the form that clients expect for ids of events and requests. */
void audit_uuid(char ret_uuid[AUDIT_UUID_SIZE]);

/* Pending events, which are written with one statement. */
struct audit_batch {
	json_t *rows;
	struct outbox messages;
};
void audit_batch_init(struct audit_batch *batch);
void audit_batch_release(struct audit_batch *batch);
/* Adds an event. Keeps no reference to its strings. */
void audit_add(struct audit_batch *batch, const struct audit_event *event);
/* Writes the rows and their messages in the current transaction, or in a transaction of its own. */
int audit_insert(struct store *store, struct audit_batch *batch, struct err *err);
/* The same outside of a transaction, in two steps: PostgreSQL commits the rows while the caller does something that
 * needs no connection. Always call audit_sent, also after a failure. If `result` is not 0, it returns `result`. */
int audit_send(struct store *store, struct audit_batch *batch, struct err *err);
int audit_sent(struct store *store, struct audit_batch *batch, int result, struct err *err);
/* Writes a single event. */
int audit_write(struct store *store, const struct audit_event *event, struct err *err);
/* The same for what happened without a request, such as an operator's command: fills in the actor and a request's id.
 */
int audit_write_system(struct store *store, const struct audit_event *event, struct err *err);

struct audit_list {
	const char *organization; /* NULL: the whole site */
	const char *since;        /* a time PostgreSQL reads, or NULL */
	long long limit, offset;
};

/* Conditions of events; NULL: none. */
struct audit_filter {
	const char *until;         /* a time PostgreSQL reads */
	const char *actor;         /* an id, or a name */
	const char *action;        /* with underscores */
	const char *resource_type; /* likewise */
	const char *resource;      /* an id */
};

/* The newest first, as the shape `audit_event`; a row with a null id if the page is empty. */
int audit_read(struct store *store, const struct audit_list *list, struct rows *ret_rows, struct err *err);
/* The same, of events that the filter lets pass. They are not counted: `total` is 0. */
int audit_search(struct store *store, const struct audit_list *list, const struct audit_filter *filter,
	struct rows *ret_rows, struct err *err);
/* Stores the number of events of past hours (table audit_totals). */
int audit_count(struct store *store, struct err *err);

#endif
