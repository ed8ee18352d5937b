/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/request_audit.h"

#include <string.h>

#include "scheduler/api/vcs/lookup.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/store/workspaces/workspaces.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

/* ---- the action and resource of a route ---- */

static const struct {
	const char *method, *action, *of_relation;
} verbs[] = {
	{"POST", "create", "add"},
	{"PATCH", "update", "replace"},
	{"PUT", "upload", "upload"},
	{"DELETE", "destroy", "remove"},
};

enum { MAX_SEGMENTS = 16, API_SEGMENTS = 2 /* "/api/v2" */ };

struct segments {
	char text[256];
	char *at[MAX_SEGMENTS];
	size_t count;
};

static void segments_read(const char *pattern, struct segments *ret)
{
	char *rest = ret->text, *segment;

	text_copy(ret->text, sizeof(ret->text), pattern);
	ret->count = 0;
	while (ret->count < MAX_SEGMENTS && (segment = strsep(&rest, "/")))
		if (*segment)
			ret->at[ret->count++] = segment;
}

/* The index of the last `:name` that follows a collection; -1 if there is none. */
static int segments_named(const struct segments *segments)
{
	for (int i = (int)segments->count - 1; i > 0; i--)
		if (segments->at[i][0] == ':' && segments->at[i - 1][0] != ':')
			return i;
	return -1;
}

static const char *match_value(const struct route_match *match, const char *name)
{
	for (size_t i = 0; i < match->count; i++)
		if (strlen(name) == match->params[i].name_len &&
			strncmp(name, match->params[i].name, match->params[i].name_len) == 0)
			return match->params[i].value;
	return NULL;
}

static void action_set(struct audit_action *action, const char *method, const struct segments *segments, int named)
{
	const char *last = segments->at[segments->count - 1];
	bool acts = segments->count > API_SEGMENTS + 1 && text_equal(segments->at[segments->count - 2], "actions");
	size_t verb = 0;

	while (verb + 1 < ARRAY_LEN(verbs) && !text_equal(verbs[verb].method, method))
		verb++;
	text_copy(action->action, sizeof(action->action), verbs[verb].action);
	if (acts)
		text_copy(action->action, sizeof(action->action), last);
	else if (named > 0 && text_equal(segments->at[named - 1], "relationships"))
		text_copy(action->action, sizeof(action->action), verbs[verb].of_relation);
	/* SCIM replaces documents with PUT. */
	if (text_equal(segments->at[0], "scim") && text_equal(method, "PUT"))
		text_copy(action->action, sizeof(action->action), "update");
	audit_underscores(action->action);
}

void audit_action_read(const struct route *route, const struct route_match *match, struct audit_action *ret_action)
{
	struct segments segments;
	int named;

	segments_read(route->pattern, &segments);
	named = segments_named(&segments);
	*ret_action = (struct audit_action){.id = NULL};
	action_set(ret_action, route->method, &segments, named);
	/* "relationships" is not a resource: the resource precedes it. */
	if (named > 2 && text_equal(segments.at[named - 1], "relationships"))
		named -= 2;
	if (named > 0)
		ret_action->id = match_value(match, segments.at[named] + 1);
	else
		named = API_SEGMENTS + 1;
	audit_singular(segments.at[named - 1], ret_action->type, sizeof(ret_action->type));
}

/* ---- writing ---- */

static const char *const actor_types[] = {
	[ACTOR_NONE] = "none",
	[ACTOR_USER] = "user",
	[ACTOR_POOL] = "agent-pool",
	[ACTOR_NOTIFIER] = "notifier",
	[ACTOR_TASK] = "run-task",
	[ACTOR_RUN] = "run",
	[ACTOR_SCIM] = "scim",
};

/* The members of a SCIM document, or the paths of its operations without the values in them. */
static void scim_names(const json_t *body, struct db_array *names)
{
	const json_t *operations = json_object_get(body, "Operations"), *operation;
	const char *name;
	json_t *value;
	size_t i;

	if (!json_is_array(operations))
		json_object_foreach((json_t *)body, name, value) db_array_add(names, name);
	json_array_foreach(operations, i, operation)
	{
		const char *path = json_string_at(operation, "path");
		char shown[64];

		if (path) {
			text_copy(shown, sizeof(shown), path);
			shown[strcspn(shown, "[")] = '\0';
			db_array_add(names, shown);
		} else {
			json_object_foreach(json_object_get(operation, "value"), name, value) db_array_add(names, name);
		}
	}
}

static void attribute_names(const json_t *body, struct db_array *names)
{
	static const char *const parts[] = {"data.attributes", "data.relationships"};
	const char *name;
	json_t *value;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		json_object_foreach((json_t *)json_at(body, parts[i]), name, value) db_array_add(names, name);
}

/* A path may identify an object by its name: the trail has its id. */
static const char *resource_id(const struct audit_note *audit, const struct audit_action *action)
{
	if (text_equal(action->type, "workspace") && audit->workspace.text[0])
		return audit->workspace.text;
	if (text_equal(action->type, "project") && audit->project.text[0])
		return audit->project.text;
	if (text_equal(action->type, "organization") && audit->organization.text[0])
		return audit->organization.text;
	return action->id;
}

/* Handlers of signed uploads do not call may(). They note only the workspace. */
static int organization_find(struct request *req, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct audit_note *audit = req->audit;

	if (audit->organization.text[0] || !audit->workspace.text[0])
		return 0;
	if (workspace_lookup(req->store, audit->workspace.text, &rows, err) < 0)
		return -1;
	if (rows.count)
		audit_note_place(
			audit, &(struct place){.organization = row_of(workspace_lookup, &rows, 0)->organization_id});
	return 0;
}

/* An event of a request: what it does, and what else is known of it. */
struct event {
	struct audit_action action;
	const json_t *details; /* or NULL */
};

/* The event's details: the handler's facts, and the site admin who acts as the user. */
static json_t *details_of(const struct request *req, const json_t *given)
{
	json_t *details = json_object();

	json_object_update(details, req->audit->details);
	json_object_update(details, (json_t *)given);
	if (req->actor.impersonator.text[0]) {
		json_object_set_new(details, "impersonator-id", json_string(req->actor.impersonator.text));
		json_object_set_new(details, "impersonator", json_string(req->actor.impersonator_name));
	}
	return details;
}

static int event_add(struct request *req, const struct event *of, struct audit_batch *batch, struct err *err)
{
	_cleanup_(db_array_release) struct db_array names = DB_ARRAY_INIT;
	json_auto_t *details = details_of(req, of->details);
	const struct audit_action *action = &of->action;
	struct audit_note *audit = req->audit;
	bool signed_path = req->route && req->route->permission == CAN_WITH_SIGNATURE;
	bool site = req->route && req->route->permission == CAN_ADMINISTER_SITE;
	struct audit_event event = {.organization = site ? NULL : audit->organization.text,
		.actor_type = signed_path       ? "signed-address"
			: req->actor.is_service ? "service-account"
						: actor_types[req->actor.kind],
		.actor_id = req->actor.user.text,
		.actor_name = req->actor.username,
		.token = req->actor.token.text,
		.address = audit->address,
		.request = audit->request,
		.action = action->action,
		.resource_type = action->type,
		.resource_id = action->id,
		.workspace = audit->workspace.text,
		.attributes = &names,
		.details = details};

	if (!audit->request[0])
		audit_uuid(audit->request);
	if (organization_find(req, err) < 0)
		return -1;
	if (req->actor.kind == ACTOR_SCIM)
		scim_names(req->body, &names);
	else
		attribute_names(req->body, &names);
	audit_add(batch, &event);
	return 0;
}

static int event_write(struct request *req, const struct event *event, struct err *err)
{
	struct audit_batch batch;
	int result;

	audit_batch_init(&batch);
	result = event_add(req, event, &batch, err) < 0 ? -1 : audit_insert(req->store, &batch, err);
	audit_batch_release(&batch);
	return result;
}

int request_audit_add(struct request *req, const char *type, const char *id, struct audit_batch *batch, struct err *err)
{
	struct event event = {.details = NULL};

	audit_action_read(req->route, &req->match, &event.action);
	text_copy(event.action.type, sizeof(event.action.type), type);
	event.action.id = id;
	return event_add(req, &event, batch, err);
}

int request_audit_write(struct request *req, const char *action_name, const char *type, const char *id, struct err *err)
{
	struct event event = {.action = {.id = id}};

	text_copy(event.action.action, sizeof(event.action.action), action_name);
	text_copy(event.action.type, sizeof(event.action.type), type);
	return event_write(req, &event, err);
}

static void further_add(struct request *req, const struct request_event *of, struct audit_batch *batch)
{
	const struct audit_event event = {.organization = of->organization,
		.actor_type = req->actor.is_service ? "service-account" : actor_types[req->actor.kind],
		.actor_id = req->actor.user.text,
		.actor_name = req->actor.username,
		.token = req->actor.token.text,
		.address = req->audit->address,
		.request = req->audit->request,
		.action = of->action,
		.resource_type = of->type,
		.resource_id = of->id,
		.workspace = of->workspace,
		.details = of->details};

	audit_add(batch, &event);
	json_decref(of->details);
}

int request_audit_events(struct request *req, const struct request_event *events, size_t count, struct err *err)
{
	struct audit_batch batch;
	int result;

	if (!req->audit->request[0])
		audit_uuid(req->audit->request);
	audit_batch_init(&batch);
	for (size_t i = 0; i < count; i++)
		further_add(req, &events[i], &batch);
	result = audit_insert(req->store, &batch, err);
	audit_batch_release(&batch);
	return result;
}

int request_audit_event(struct request *req, const struct request_event *event, struct err *err)
{
	return request_audit_events(req, event, 1, err);
}

int request_audit_detailed(struct request *req, const struct audit_action *action, json_t *details, struct err *err)
{
	int result = event_write(req, &(struct event){*action, details}, err);

	json_decref(details);
	return result;
}

/* ---- one request ---- */

struct serving {
	struct request *req;
	struct response *res;
	size_t headers; /* length of the answer's own headers before the handler, in bytes */
	bool written;   /* and committed */
};

static void note_written(void *data, bool committed)
{
	struct serving *serving = data;

	serving->written = committed;
}

static int serving_write(void *data, struct err *err)
{
	struct serving *serving = data;
	struct request *req = serving->req;
	struct event event = {.details = NULL};
	struct audit_action *action = &event.action;

	if (serving->written || serving->res->http->status >= 400)
		return 0;
	audit_action_read(req->route, &req->match, action);
	if (req->audit->action)
		text_copy(action->action, sizeof(action->action), req->audit->action);
	action->id = resource_id(req->audit, action);
	if (req->audit->resource[0]) {
		text_copy(action->type, sizeof(action->type), req->audit->type);
		action->id = req->audit->resource;
	}
	if (event_write(req, &event, err) < 0)
		return -1;
	db_after_commit(req->store->db, note_written, serving);
	return 0;
}

/* Runs the handler after it discards the answer of an earlier attempt. */
static int serve_once(void *data, struct err *err)
{
	struct serving *serving = data;

	response_reset(serving->res, serving->headers);
	*err = (struct err)ERR_INIT;
	return serving->req->route->handler(serving->req, serving->res, err);
}

/* Runs the handler, and ends the transaction that the handler left open, if any. */
static int handler_run(struct request *req, struct response *res, struct err *err)
{
	int result = req->route->handler(req, res, err);

	return db_in_transaction(req->store->db) ? db_end(req->store->db, result, err) : result;
}

static bool route_changes(const struct route *route)
{
	return !text_equal(route->method, "GET") && route->permission != CAN_CALL_BACK &&
		(text_starts(route->pattern, "/api/v2/") || text_starts(route->pattern, SIGNED_PREFIX "/") ||
			text_starts(route->pattern, REGISTRY_KEYS_PREFIX "/") ||
			text_starts(route->pattern, SCIM_PREFIX "/"));
}

int request_audit_run(struct request *req, struct response *res, struct err *err)
{
	struct serving serving = {.req = req, .res = res, .headers = res->http->own.len};
	struct vcs_lookup lookup = {.head = ""};
	struct db *db = req->store->db;
	int result;

	if (!route_changes(req->route) || route_is_batched(req->route))
		return handler_run(req, res, err);
	if (req->route->executor == BLOCKING_LOOKUP && vcs_repo_lookup(req, &lookup, err) < 0)
		return -1;
	req->lookup = &lookup;
	db_before_commit(db, serving_write, &serving);
	if (route_blocks(req->route) || req->route->permission == CAN_WITH_SIGNATURE)
		result = handler_run(req, res, err);
	else
		result = db_transaction(db, serve_once, &serving, err);
	db_before_commit(db, NULL, NULL);
	req->lookup = NULL;
	if (result == 0 && !serving.written)
		result = serving_write(&serving, err);
	return result;
}

int request_audit_begin(struct request *req, struct err *err)
{
	return db_begin(req->store->db, err);
}
