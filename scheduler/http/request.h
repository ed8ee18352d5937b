/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_REQUEST_H
#define SCHEDULER_HTTP_REQUEST_H

/*
 * The request, and the ways to answer it. A handler reads the request, works on the store and answers with one
 * respond_* call. If it returns -1, the server makes the JSON:API error from *err. routes.def lists all handlers.
 */

#include "common/http/httpd.h"
#include "common/json/json.h"
#include "scheduler/auth/actor.h"
#include "scheduler/http/routes.h"
#include "scheduler/store/store.h"

struct audit_note;
struct batch_item;
struct buckets;
struct callback_relay;
struct claim_waiters;
struct control;
struct event_hub;
struct listener;
struct log_sender;
struct objects;
struct path_object;
struct publisher;
struct helper;
struct vcs_lookup;

/* The parts of the server that all its requests share. */
struct services {
	struct buckets *buckets;       /* rate limits (auth/buckets.h) */
	struct control *control;       /* holds workers' requests (api/internal/control.h) */
	struct event_hub *events;      /* event streams of clients (events/hub.h) */
	struct log_sender *archives;   /* sends archives of providers */
	struct log_sender *logs;       /* sends long logs (api/runs/logs/log_sender.h) */
	struct callback_relay *relay;  /* holds callbacks until a notifier answers (api/tasks/callback_relay.h) */
	struct claim_waiters *waiters; /* holds workers' requests until a job waits (outbox/claim_waiters.h) */
	struct objects *objects;       /* the object store for large content, or NULL */
	struct listener *vcs_events;   /* reads deliveries of VCS providers (background/vcs/events.h) */
	struct publisher *publisher;   /* creates and deletes topics of pools (outbox/publisher.h) */
	struct helper *saml;           /* reads SAML's XML (auth/saml/provider.h) */
	struct helper *openpgp;        /* reads OpenPGP keys and signatures (auth/openpgp/openpgp.h) */
};

struct request {
	const struct http_request *http;
	struct store *store;
	const struct route *route;
	struct route_match match;
	struct actor actor;
	const char *bearer;              /* the token as sent, or NULL */
	json_t *body;                    /* of a JSON route; NULL if none was sent. Borrowed from the document */
	struct json_document document;   /* owned by the server */
	struct audit_note *audit;        /* the request's audit trail (http/audit_note.h) */
	struct path_object *object;      /* what the path names (http/path/path_object.h), or NULL */
	const struct vcs_lookup *lookup; /* of a BLOCKING_LOOKUP route, or NULL (api/vcs/lookup.h) */
	bool counted_by_address;         /* counted against its address, not its token */
	const struct services *services;
	struct batch_item *item; /* filled by the handler of a batched route (http/batch.h); NULL for other routes */
};

struct response {
	struct http_answer *http;
	struct audit_note *audit;
};

/*
 * Returns 0 if the actor has the permission of the route's row in that place, else -1 with ERR_NOT_FOUND
 * "<what> not found". Every API handler calls it before it shows or changes anything:
 *     may(req, (struct place){.organization = id, .workspace = id}, "run", err)
 * A permission of workspaces needs the place's workspace. A permission of projects needs its project
 * (rights/permissions.def).
 */
int may(const struct request *req, struct place place, const char *what, struct err *err);
/* The same for a permission other than the row's: that of a second object, or of one attribute. */
int may_with(
	const struct request *req, enum permission permission, struct place place, const char *what, struct err *err);
/* The place of a row with the columns organization_id and workspace_id. */
#define place_of(row) ((struct place){.organization = (row)->organization_id, .workspace = (row)->workspace_id})

/* ---- reading ---- */

/* The value of `:name` in the route's pattern; never NULL. Borrowed. */
const char *param(const struct request *req, const char *name);
/* A query parameter, or NULL. */
const char *query(const struct request *req, const char *name);
/* Refuses (ERR_MALFORMED) a query string that is not UTF-8. The server calls it before any handler. */
int query_text_check(const struct request *req, struct err *err);
/* True if the query's `include` lists the relation. Hyphens and underscores are equal. */
bool query_includes(const struct request *req, const char *relation);
/* Refuses (400 "Invalid include parameter") an `include` with a name that is not in `known`, a list that NULL ends. */
int query_includes_check(const struct request *req, const char *const *known, struct err *err);

/*
 * Attributes of the body (data.attributes.<name>). Texts are borrowed from the body.
 *  - An absent attribute gives 0 and leaves *ret_value unchanged.
 *  - A wrong type gives -1 with ERR_INVALID and a pointer to the field.
 *  - null counts as absent for booleans and numbers, and gives NULL for texts.
 */
int body_text(const struct request *req, const char *name, const char **ret_value, struct err *err);
/* The same without the checks of body_text, for values. body_text refuses more than 10,000 bytes, and control
 * characters other than tab, line feed and carriage return. */
int body_long_text(const struct request *req, const char *name, const char **ret_value, struct err *err);
int body_bool(const struct request *req, const char *name, bool *ret_value, struct err *err);
int body_int(const struct request *req, const char *name, long long *ret_value, struct err *err);
/* An array of texts, or null; borrowed. */
int body_texts(const struct request *req, const char *name, const json_t **ret_value, struct err *err);
/* True for a time such as "2026-11-21T01:25:00Z". A fraction and another offset are accepted too. */
bool time_valid(const char *text);
/* True if the attribute was sent, null or not. */
bool body_has(const struct request *req, const char *name);
/* The id of a to-one relation (data.relationships.<name>.data.id), or NULL. */
const char *body_relation(const struct request *req, const char *name);
/* The same, with a check: ERR_INVALID if the relation's data is present and is not one {type, id} of that type. */
int body_to_one(const struct request *req, const char *name, const char *type, const char **ret_id, struct err *err);
/* The comment of an action's body: {"comment": "..."}, {} or no body at all. NULL if there is none; borrowed. */
int body_comment(const struct request *req, const char **ret_comment, struct err *err);
/* Checks that the body is a document with data of that type. An absent or empty type is accepted. */
int body_check(const struct request *req, const char *type, struct err *err);

/* ---- answering ---- */

/* {"data": resource}; takes the resource. */
int respond_resource(struct response *res, int status, json_t *resource);
/* {"data": resource, "included": [...]}; takes both. included may be NULL. */
int respond_including(struct response *res, int status, json_t *resource, json_t *included);
/* No body: 202, 204. */
int respond_empty(struct response *res, int status);
/* Bytes without conversion; takes the buffer's content. The type is borrowed. */
int respond_bytes(struct response *res, const char *content_type, struct buf *body);
/* JSON that is not a JSON:API document; takes it. */
int respond_json(struct response *res, int status, json_t *value);

/* One page of a list: page[number] from 1, page[size] 20 by default and at most 100. */
struct page {
	long long number, size;
	long long offset; /* for SQL */
	long long total;  /* set by the caller that counts; -1: not counted, and not shown */
	bool more;        /* with total -1: there is a next page */
	bool none;        /* an empty list has no page; else it has one */
	json_t *meta;     /* further members of the document's meta, or NULL; borrowed */
};
/* ERR_MALFORMED if page[number] or page[size] is not a whole number from 1. */
int page_read(const struct request *req, struct page *ret_page, struct err *err);
/* The same for a list whose pages have `max` items, by default and at most. */
int page_read_limited(const struct request *req, long long max, struct page *ret_page, struct err *err);
/* {"data": [...], "links": ..., "meta": {"pagination": ...}}. Takes data and included; included may be NULL. */
int respond_page(
	const struct request *req, struct response *res, const struct page *page, json_t *data, json_t *included);

/* One page of a list that is in memory. Borrows the list. */
int respond_slice(
	const struct request *req, struct response *res, struct page *page, const json_t *list, json_t *included);

/* Resets the answer. Of its own headers, the first `headers` bytes stay. */
void response_reset(struct response *res, size_t headers);

/* ---- JSON:API pieces ---- */

/* The error document for *err. */
void respond_error(struct response *res, const struct err *err);

/* {"id": id, "type": type}; null if id is NULL. A new reference. */
json_t *linkage(const char *type, const char *id);
/* Sets a relation's `links.related`, the path at which it is read: "/api/v2", the collection, the id and the name.
 * Returns the relation. */
json_t *relation_linked(json_t *relation, const char *collection, const char *id, const char *name);
/* {"data": linkage}: a to-one relation, with `links.related` if resources of the type have an address. */
json_t *to_one(const char *type, const char *id);
/* {"data": [linkage, ...]}: a to-many relation, from a JSON array of ids. Borrows the array. */
json_t *to_many(const char *type, const json_t *ids);
/* The same from a jsonb column that is an array of ids. */
json_t *many_shown(const char *type, const char *ids);
/* {"id","type","attributes","relationships"}. Takes attributes and relationships, which may be NULL. */
json_t *resource_new(const char *type, const char *id, json_t *attributes, json_t *relationships);
/* A timestamptz column ("2026-11-21 01:25:00.123456+00") as the API's `tz` form ("...Z"), or null. A new reference. */
json_t *time_shown(const char *time);

#endif
