/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <stdio.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/vcs/event_list.h"
#include "scheduler/store/vcs/event_list.sql.h"
#include "scheduler/store/vcs/repositories.h"
#include "scheduler/vcs/rules.h"

/* Events of the repositories of an organization, and their outcomes. */

/* ---- the resource ---- */

static const struct cell_shown attributes[] = {
	CELL_TIME("created-at", vcs_event, created_at),
	CELL("level", vcs_event, level),
	CELL("message", vcs_event, message),
	CELL("organization-id", vcs_event, organization_name),
	/* not of other servers of this API */
	CELL("kind", vcs_event, kind),
	CELL("state", vcs_event, state),
	CELL("found-by", vcs_event, found_by),
	CELL("identifier", vcs_event, identifier),
	CELL("ref", vcs_event, ref),
	CELL("before-sha", vcs_event, before_sha),
	CELL("commit-sha", vcs_event, sha),
	CELL_JSON("files", vcs_event, files),
	CELL("files-note", vcs_event, files_note),
};
static const struct relation relations[] = {
	ONE_CELL("oauth-client", "oauth-clients", vcs_event, connection_id),
	ONE_CELL("oauth-token", "oauth-tokens", vcs_event, token_id),
	ONE_CELL("vcs-repository", "vcs-repositories", vcs_event, repository_id),
};

/* Attributes that are members of the event's detail (scheduler/vcs/event.h). */
static const struct {
	const char *name, *member;
} details[] = {{"commit-message", "message"}, {"commit-url", "commit_url"}, {"compare-url", "compare_url"},
	{"pull-request-title", "title"}, {"pull-request-url", "url"}, {"sender-username", "sender"},
	{"sender-avatar-url", "sender_avatar_url"}, {"sender-html-url", "sender_url"}};

/* The page of the commit, if the provider did not send it. */
static void commit_url_complete(const struct vcs_event_row *event, json_t *shown)
{
	const struct vcs_place_columns columns = {event->identifier, event->provider, event->http_url, event->api_url};
	_cleanup_(freep) char *url = NULL;
	struct vcs_place place;

	if (json_is_string(json_object_get(shown, "commit-url")) || !*event->sha || !vcs_place_of(columns, &place))
		return;
	url = vcs_commit_url(&place, event->sha);
	json_object_set_new(shown, "commit-url", json_string_or_null(url));
}

static json_t *event_attributes(const struct vcs_event_row *event)
{
	json_auto_t *detail = json_shown(event->detail);
	json_t *shown = cells_shown(attributes, ARRAY_LEN(attributes), event);

	for (size_t i = 0; i < ARRAY_LEN(details); i++) {
		const char *text = json_string_at(detail, details[i].member);

		json_object_set_new(shown, details[i].name, json_string_or_null(text_or_null(text)));
	}
	json_object_set_new(shown, "pull-request-number",
		event->pull_request_null ? json_null() : json_integer(event->pull_request));
	commit_url_complete(event, shown);
	return shown;
}

static json_t *event_resource(const void *row)
{
	const struct vcs_event_row *event = row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/vcs-events/%s", event->id);
	json_t *resource = resource_new("vcs-events", event->id, event_attributes(event),
		relations_shown(relations, ARRAY_LEN(relations), row));

	json_object_set_new(resource, "links", json_pack("{ss}", "self", self));
	return resource;
}

static const struct inclusion includes[] = {{"oauth_client", "vcs-events", "oauth-client", &kind_oauth_clients}};

static const struct resource_kind kind_vcs_events = {
	.type = "vcs-events", .show = event_resource, KIND_INCLUDES(includes)};

/* ---- the list ---- */

static int time_check(const struct request *req, const char *name, const char **ret_time, struct err *err)
{
	const char *time = text_or_null(query(req, name));

	if (time && !time_valid(time))
		return err_set(err, ERR_MALFORMED, "%s must be a time such as 2026-01-31T12:00:00Z", name);
	*ret_time = time;
	return 0;
}

static int page_of_events(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	struct vcs_event_list list = {.organization_id = scope->organization.text,
		.levels = text_or_null(query(req, "filter[levels]")),
		.connection_ids = text_or_null(query(req, "filter[oauth_client_external_ids]")),
		.workspace = text_or_null(query(req, "filter[workspace]")),
		.limit = page->size,
		.offset = page->offset};

	if (time_check(req, "filter[from]", &list.from, err) < 0 || time_check(req, "filter[to]", &list.to, err) < 0)
		return -1;
	return vcs_events_list(req->store, &list, ret_rows, err);
}

int vcs_events_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_vcs_events, scope_organization, page_of_events}, err);
}

/* ---- one event ---- */

static json_t *outcome_show(const struct vcs_outcomes_read_row *row)
{
	const char *name = row->reason;
	enum vcs_reason reason = vcs_reason_of(name);

	return json_pack("{so so so so so so}", "subject-id", json_string_or_null(row->subject_id), "name",
		json_string_or_null(row->name), "reason", json_string_or_null(row->reason), "message",
		json_string(reason == VCS_REASONS ? name : vcs_reason_sentence(reason)), "run-id",
		json_string_or_null(row->run_id), "configuration-version-id",
		json_string_or_null(row->configuration_version_id));
}

/* Commit statuses link to an event, so all members may read it. Attributes of the repository are shown only to users
 * who see one of the event's workspaces, or may list events. */
static bool sees_content(const struct request *req, const struct vcs_event_row *event, const struct rows *outcomes)
{
	const struct place place = {.organization = event->organization_id};
	struct err hidden = ERR_INIT;

	for (int i = 0; i < outcomes->count; i++)
		if (text_starts(row_of(vcs_outcomes_read, outcomes, i)->subject_id, "ws-"))
			return true;
	return may_with(req, CAN_MANAGE_VCS, place, "VCS event", &hidden) == 0;
}

/* The attributes that tell nothing of the repository. */
static bool is_for_all(const char *name)
{
	static const char *const names[] = {
		"created-at", "level", "organization-id", "kind", "state", "found-by", "outcomes"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (text_equal(name, names[i]))
			return true;
	return false;
}

static void content_hide(json_t *event)
{
	json_t *shown = json_object_get(event, "attributes"), *value;
	const char *name;
	void *next;

	json_object_foreach_safe(shown, next, name, value)
	{
		if (!is_for_all(name))
			json_object_set_new(shown, name, json_is_string(value) ? json_string("") : json_null());
	}
	json_object_set_new(
		json_object_get(event, "relationships"), "vcs-repository", to_one("vcs-repositories", NULL));
}

int vcs_events_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, outcomes = ROWS_INIT;
	const struct vcs_event_row *event;
	json_auto_t *data = json_array();
	json_t *shown, *list, *included = NULL;

	if (includes_check(req, &kind_vcs_events, err) < 0 ||
		vcs_event_read(req->store, param(req, "vcs_event"), &rows, err) < 0)
		return -1;
	event = row_of(vcs_event, &rows, 0);
	if (may(req, (struct place){.organization = event->organization_id}, "VCS event", err) < 0 ||
		vcs_outcomes_read(req->store, event->id, &outcomes, err) < 0)
		return -1;
	json_array_append_new(data, event_resource(event));
	shown = json_object_get(json_array_get(data, 0), "attributes");
	list = json_array();
	for (int i = 0; i < outcomes.count; i++)
		json_array_append_new(list, outcome_show(row_of(vcs_outcomes_read, &outcomes, i)));
	json_object_set_new(shown, "outcomes", list);
	if (!sees_content(req, event, &outcomes))
		content_hide(json_array_get(data, 0));
	if (includes_follow(req, &kind_vcs_events, data, &included, err) < 0)
		return -1;
	return respond_including(res, 200, json_incref(json_array_get(data, 0)), included);
}
