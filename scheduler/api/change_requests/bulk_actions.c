/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/request_audit.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/change_requests/change_requests.h"
#include "scheduler/store/change_requests/change_requests.sql.h"
#include "scheduler/store/explorer/explorer.h"
#include "scheduler/store/explorer/explorer.sql.h"

/*
 * Bulk actions of the explorer. The only one creates change requests, in workspaces that a query finds or that the body
 * names. All of them are created, or none. The attributes have underscores, as clients expect.
 */

enum { MAX_SUBJECT = 255, MAX_MESSAGE = 10000 };

#define AT "/data/attributes/"

static const json_t *attribute(const struct request *req, const char *name)
{
	return json_object_get(json_at(req->body, "data.attributes"), name);
}

/* ---- the texts ---- */

static int message_check(const char *message, struct err *err)
{
	static const char pointer[] = AT "action_inputs/message";

	if (!message || !message[strspn(message, " \t\r\n")])
		return err_at(err, pointer, "Message can't be blank");
	for (const unsigned char *at = (const unsigned char *)message; *at; at++)
		if ((*at < ' ' && !strchr("\t\n\r", *at)) || *at == 0x7f)
			return err_at(err, pointer, "Message may not contain control characters");
	return length_check("Message", pointer, message, MAX_MESSAGE, err);
}

static int inputs_read(const struct request *req, struct change_request_draft *draft, struct err *err)
{
	const char *action = json_string_value(attribute(req, "action_type"));
	const json_t *inputs = attribute(req, "action_inputs");

	if (!text_equal(action, "change_request") && !text_equal(action, "change_requests"))
		return err_at(err, AT "action_type", "Action type must be change_request");
	if (!json_is_object(inputs))
		return err_at(err, AT "action_inputs", "Action inputs must be an object with a subject and a message");
	draft->subject = json_string_value(json_object_get(inputs, "subject"));
	draft->message = json_string_value(json_object_get(inputs, "message"));
	if (title_check("Subject", AT "action_inputs/subject", draft->subject, MAX_SUBJECT, err) < 0)
		return -1;
	return message_check(draft->message, err);
}

/* ---- the workspaces ---- */

static int many_refuse(const char *pointer, struct err *err)
{
	return err_at(err, pointer, "A change request can be for at most %d workspaces: use filters",
		MAX_CHANGE_REQUEST_WORKSPACES);
}

static int targets_read(const json_t *targets, json_t **ret_ids, struct err *err)
{
	static const char pointer[] = AT "target_ids";
	const json_t *id;
	size_t i;

	if (!json_is_array(targets) || !json_array_size(targets))
		return err_at(err, pointer, "Target ids must be a list of ids of workspaces");
	if (json_array_size(targets) > MAX_CHANGE_REQUEST_WORKSPACES)
		return many_refuse(pointer, err);
	json_array_foreach((json_t *)targets, i, id)
	{
		if (!json_is_string(id))
			return err_at(err, pointer, "Target ids must be a list of ids of workspaces");
	}
	*ret_ids = json_deep_copy(targets);
	return 0;
}

static int query_run(struct request *req, const char *organization_id, struct explorer_query *query, json_t **ret_ids,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *ids = json_array();

	if (explorer_run(req->store, organization_id, query, (struct list_range){MAX_CHANGE_REQUEST_WORKSPACES + 1, 0},
		    &rows, err) < 0)
		return -1;
	if (rows.count > MAX_CHANGE_REQUEST_WORKSPACES)
		return many_refuse(AT "query", err);
	for (int i = 0; i < rows.count; i++)
		if (row_of(explorer_row, &rows, i)->id)
			json_array_append_new(ids, json_string(row_of(explorer_row, &rows, i)->id));
	if (!json_array_size(ids))
		return err_at(err, AT "query", "Query finds no workspace");
	*ret_ids = json_incref(ids);
	return 0;
}

/* The workspaces that a query finds. */
static int query_read(
	struct request *req, const char *organization_id, const json_t *query, json_t **ret_ids, struct err *err)
{
	const char *type = json_string_at(query, "type");
	struct explorer_query compiled;
	struct err why = ERR_INIT;
	int result;

	if (type && !text_equal(type, "workspaces"))
		return err_at(err, AT "query/type", "Query must be of the type workspaces");
	if (explorer_query_init(&compiled, "workspaces", err) < 0)
		return -1;
	if (explorer_query_document(&compiled, query, &why) < 0)
		result = err_at(err, AT "query", "%s", why.message);
	else
		result = query_run(req, organization_id, &compiled, ret_ids, err);
	explorer_query_release(&compiled);
	return result;
}

static int ids_read(struct request *req, const char *organization_id, json_t **ret_ids, struct err *err)
{
	const json_t *targets = attribute(req, "target_ids"), *query = attribute(req, "query");
	bool named = targets && !json_is_null(targets), asked = query && !json_is_null(query);

	if (named == asked)
		return err_at(err, AT "target_ids", "Target ids or a query must be given, and not both");
	return named ? targets_read(targets, ret_ids, err) : query_read(req, organization_id, query, ret_ids, err);
}

/* ---- the action ---- */

/* An event for each request, which also tells the pages of its workspace. */
static int events_write(struct request *req, const char *organization_id, const struct rows *created, struct err *err)
{
	_cleanup_(freep) struct request_event *events = mem_new((size_t)created->count, sizeof(*events));

	for (int i = 0; i < created->count; i++) {
		const struct change_requests_create_row *row = row_of(change_requests_create, created, i);

		events[i] = (struct request_event){.organization = organization_id,
			.workspace = row->workspace_id,
			.action = "create",
			.type = "workspace_change_request",
			.id = row->id};
	}
	return request_audit_events(req, events, (size_t)created->count, err);
}

static json_t *action_resource(const struct change_request_draft *draft)
{
	return resource_new("explorer_bulk_actions", id_new("eba").text,
		json_pack("{ss ss s{ss ss} so}", "organization_id", draft->organization_id, "action_type",
			"change_requests", "action_inputs", "subject", draft->subject, "message", draft->message,
			"created_by", linkage("users", draft->created_by)),
		NULL);
}

int bulk_actions_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows created = ROWS_INIT;
	struct change_request_draft draft = {.created_by = text_or_null(req->actor.user.text)};
	json_auto_t *ids = NULL;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "bulk_actions", err) < 0 ||
		inputs_read(req, &draft, err) < 0)
		return -1;
	/* A query outside of this transaction would begin and commit one of its own, with the event of the action. */
	if (request_audit_begin(req, err) < 0 || ids_read(req, scope.organization.text, &ids, err) < 0)
		return -1;
	draft.organization_id = scope.organization.text;
	draft.workspace_ids = ids;
	if (change_requests_create(req->store, &draft, &created, err) < 0 ||
		events_write(req, draft.organization_id, &created, err) < 0)
		return -1;
	return respond_resource(res, 201, action_resource(&draft));
}
