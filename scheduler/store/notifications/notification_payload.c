/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notification_payload.h"

#include <string.h>

#define VERIFICATION "verification"

/* ---- words ---- */

/* The web page of the run or the workspace; NULL without a workspace. The caller frees it. */
static char *page_url(const struct notification_text *text)
{
	if (!text->workspace)
		return NULL;
	if (text->change_request_id)
		return mem_printf("%s/app/%s/workspaces/%s/change-requests/%s", text->public_url, text->organization,
			text->workspace, text->change_request_id);
	if (!text->run_id)
		return mem_printf("%s/app/%s/workspaces/%s%s", text->public_url, text->organization, text->workspace,
			text->assessment ? "/health" : "");
	return mem_printf("%s/app/%s/%s/runs/%s", text->public_url, text->organization, text->workspace, text->run_id);
}

static const char *assessment_message(enum trigger trigger)
{
	if (trigger == TRIGGER_DRIFTED)
		return "Drift Detected";
	return trigger == TRIGGER_CHECK_FAILED ? "Checks Failed" : "Health Assessment Failed";
}

static char *message(const struct notification_text *text)
{
	int status = run_status_parse(text->run_status);

	if (text->note)
		return mem_text(text->note);
	if (text->change_request_id)
		return mem_printf("Change Request Created: %s", text->change_request_subject);
	if (text->due_at)
		return mem_printf("Workspace %s is to be destroyed automatically at %s", text->workspace, text->due_at);
	if (text->assessment)
		return mem_text(assessment_message(text->trigger));
	if (text->trigger == TRIGGER_COUNT || status < 0)
		return mem_printf("Verification of %s", text->configuration_name);
	return trigger_message(text->trigger, (enum run_status)status);
}

static const char *trigger(const struct notification_text *text)
{
	return text->trigger == TRIGGER_COUNT ? VERIFICATION : trigger_name(text->trigger);
}

/* ---- generic ---- */

/* The result with its address; null for NULL. A new reference. */
static json_t *assessment_shown(const struct notification_text *text, const char *result)
{
	json_t *shown = result ? json_shown(result) : json_null();

	if (result)
		json_object_set_new(shown, "url",
			json_sprintf("%s/api/v2/assessment-results/%s", text->public_url,
				text_or_empty(json_string_at(shown, "id"))));
	return shown;
}

static json_t *workspace_details(const struct notification_text *text)
{
	json_t *details = json_pack("{ss ss ss}", "workspace_id", text->workspace_id, "workspace_name", text->workspace,
		"organization_name", text->organization);

	if (text->due_at)
		json_object_set_new(details, "auto_destroy_at", json_string(text->due_at));
	if (text->assessment) {
		json_object_set_new(details, "new_assessment_result", assessment_shown(text, text->assessment));
		json_object_set_new(details, "prior_assessment_result", assessment_shown(text, text->prior_assessment));
	}
	return details;
}

/* Notifications about a workspace. */
static char *workspace_body(const struct notification_text *text)
{
	_cleanup_(freep) char *said = message(text);
	_cleanup_(freep) char *url =
		mem_printf("%s/api/v2/notification-configurations/%s", text->public_url, text->configuration_id);
	json_auto_t *body = json_pack("{si ss ss ss ss ss so}", "payload_version", 2, "notification_configuration_id",
		text->configuration_id, "notification_configuration_url", url, "trigger_scope",
		text->assessment ? "assessment" : "workspace", "trigger", trigger(text), "message", said, "details",
		workspace_details(text));

	return json_text(body);
}

/* A new change request. */
static char *change_request_body(const struct notification_text *text)
{
	_cleanup_(freep) char *url = page_url(text);
	json_auto_t *body = json_pack("{si ss ss ss ss ss so ss ss ss ss}", "payload_version", 1,
		"notification_configuration_id", text->configuration_id, "trigger", trigger(text), "change_request_url",
		url, "change_request_subject", text->change_request_subject, "change_request_message",
		text->change_request_message, "change_request_created_by", json_string_or_null(text->updated_by),
		"change_request_created_at", text->updated_at, "workspace_id", text->workspace_id, "workspace_name",
		text->workspace, "organization_name", text->organization);

	return json_text(body);
}

static char *generic_body(const struct notification_text *text)
{
	if (text->change_request_id)
		return change_request_body(text);
	if (text->workspace && !text->run_id)
		return workspace_body(text);
	_cleanup_(freep) char *url = page_url(text), *said = message(text);
	json_auto_t *body = json_pack("{si ss so so so so so so so so s[{ss ss so so so}]}", "payload_version", 1,
		"notification_configuration_id", text->configuration_id, "run_url", json_string_or_null(url), "run_id",
		json_string_or_null(text->run_id), "run_message", json_string_or_null(text->run_message),
		"run_created_at", json_string_or_null(text->run_created_at), "run_created_by",
		json_string_or_null(text->run_created_by), "workspace_id", json_string_or_null(text->workspace_id),
		"workspace_name", json_string_or_null(text->workspace), "organization_name",
		json_string_or_null(text->organization), "notifications", "message", said, "trigger", trigger(text),
		"run_status", json_string_or_null(text->run_status), "run_updated_at",
		json_string_or_null(text->updated_at), "run_updated_by", json_string_or_null(text->updated_by));

	return json_text(body);
}

/* ---- parts for human readers ---- */

struct fact {
	const char *title, *value;
};

enum { FACTS = 7 };

static void facts_fill(const struct notification_text *text, struct fact ret_facts[FACTS])
{
	const struct fact facts[FACTS] = {
		{"Organization", text->organization},
		{"Workspace", text->workspace},
		{"Run", text->run_id},
		{"Message", text->run_message},
		{"Started by", text->run_created_by},
		{text->change_request_id ? "Created by" : "Updated by", text->updated_by},
		{"Created at", text->change_request_id ? text->updated_at : NULL},
	};

	memcpy(ret_facts, facts, sizeof(facts));
}

/* ---- Slack ---- */

/* Escapes <, > and &, which have a meaning in Slack's markup. */
static char *slack_escape(const char *text)
{
	struct buf escaped = BUF_INIT(SIZE_MAX / 2);

	for (; *text; text++) {
		const char *as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : *text == '>' ? "&gt;" : NULL;

		if (as)
			buf_text(&escaped, as);
		else
			buf_append(&escaped, text, 1);
	}
	return buf_take(&escaped);
}

static void slack_field_add(json_t *fields, const struct fact *fact)
{
	_cleanup_(freep) char *value = slack_escape(fact->value);

	json_array_append_new(fields,
		json_pack("{ss ss sb}", "title", fact->title, "value", value, "short", strlen(fact->value) < 40));
}

static const char *colour(const struct notification_text *text)
{
	enum trigger trigger = text->trigger;

	if (trigger == TRIGGER_NEEDS_ATTENTION || trigger == TRIGGER_DESTROY_REMINDER ||
		trigger == TRIGGER_SCHEDULE_STOPPED || text->assessment || text->change_request_id)
		return "warning";
	if (trigger == TRIGGER_DESTROY_RESULTS)
		trigger = trigger_of_end((enum run_status)run_status_parse(text->run_status));
	return trigger == TRIGGER_ERRORED ? "danger" : "good";
}

static char *slack_body(const struct notification_text *text)
{
	_cleanup_(freep) char *url = page_url(text), *said = message(text), *title = slack_escape(said);
	_cleanup_(freep) char *where = slack_escape(text->workspace ? text->workspace : "Runyard");
	_cleanup_(freep) char *line = mem_printf("%s: %s", where, title);
	json_t *fields = json_array();
	struct fact facts[FACTS];

	facts_fill(text, facts);
	for (size_t i = 0; i < FACTS; i++)
		if (text_or_empty(facts[i].value)[0])
			slack_field_add(fields, &facts[i]);
	json_auto_t *body = json_pack("{ss s[{ss ss ss so}]}", "text", line, "attachments", "fallback", line, "color",
		colour(text), "title", title, "fields", fields);
	if (url)
		json_object_set_new(
			json_array_get(json_object_get(body, "attachments"), 0), "title_link", json_string(url));
	return json_text(body);
}

/* ---- Microsoft Teams ---- */

/* A message with one adaptive card, the format that webhooks of Teams workflows accept. */
static char *teams_body(const struct notification_text *text)
{
	_cleanup_(freep) char *url = page_url(text), *said = message(text);
	json_t *shown = json_array(), *actions = json_array();
	struct fact facts[FACTS];

	facts_fill(text, facts);
	for (size_t i = 0; i < FACTS; i++)
		if (text_or_empty(facts[i].value)[0])
			json_array_append_new(
				shown, json_pack("{ss ss}", "title", facts[i].title, "value", facts[i].value));
	if (url)
		json_array_append_new(actions,
			json_pack("{ss ss ss}", "type", "Action.OpenUrl", "title",
				text->run_id                      ? "View run"
					: text->change_request_id ? "View change request"
								  : "View workspace",
				"url", url));
	json_auto_t *body = json_pack("{ss s[{ss s{ss ss ss s[{ss ss ss ss sb} {ss so}] so}}]}", "type", "message",
		"attachments", "contentType", "application/vnd.microsoft.card.adaptive", "content", "$schema",
		"http://adaptivecards.io/schemas/adaptive-card.json", "type", "AdaptiveCard", "version", "1.4", "body",
		"type", "TextBlock", "text", said, "size", "Large", "weight", "Bolder", "wrap", 1, "type", "FactSet",
		"facts", shown, "actions", actions);

	return json_text(body);
}

/* ---- e-mail ---- */

static char *email_body(const struct notification_text *text)
{
	_cleanup_(freep) char *url = page_url(text), *said = message(text);
	struct buf body = BUF_INIT(1 << 20);
	struct fact facts[FACTS];

	facts_fill(text, facts);
	buf_printf(&body, "%s\n\n", said);
	for (size_t i = 0; i < FACTS; i++)
		if (text_or_empty(facts[i].value)[0])
			buf_printf(&body, "%s: %s\n", facts[i].title, facts[i].value);
	if (text->change_request_id)
		buf_printf(&body, "\n%s\n", text->change_request_message);
	if (url)
		buf_printf(&body, "\n%s\n", url);
	buf_printf(
		&body, "\nThis is a notification of \"%s\" (%s).\n", text->configuration_name, text->configuration_id);
	return buf_take(&body);
}

char *notification_subject(const struct notification_text *text)
{
	_cleanup_(freep) char *said = message(text);

	if (!text->workspace)
		return mem_text(said);
	return mem_printf("%s/%s: %s", text->organization, text->workspace, said);
}

/* ---- any ---- */

static const struct {
	const char *destination_type;
	char *(*body)(const struct notification_text *text);
} bodies[] = {
	{"slack", slack_body},
	{"microsoft-teams", teams_body},
	{"email", email_body},
};

char *notification_body(const struct notification_text *text, const char *destination_type)
{
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
		if (text_equal(bodies[i].destination_type, destination_type))
			return bodies[i].body(text);
	return generic_body(text);
}
