/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/events/event.h"

#include <string.h>

#include "common/json/json.h"
#include "proto/messages.h"

enum { TEXT_LIMIT = 8 << 10, WORD_MAX = 64 };

void event_free(struct event *event)
{
	if (!event)
		return;
	buf_release(&event->text);
	free(event);
}

size_t event_bytes(const struct event *event)
{
	return sizeof(*event) + event->text.cap;
}

void event_write(struct buf *out, const char *name, json_t *data)
{
	_cleanup_(freep) char *text = json_text(data);

	buf_printf(out, "event: %s\ndata: %s\n", name, text);
	json_decref(data);
}

/* ---- members of messages ---- */

/* True if the member is missing, or an id with the prefix. */
static bool read_id(const json_t *message, const char *member, const char *prefix, struct id *ret_id)
{
	const char *text = json_string_at(message, member);

	if (text && !id_valid(text, prefix))
		return false;
	text_copy(ret_id->text, sizeof(ret_id->text), text_or_empty(text));
	return true;
}

/* A short text, or NULL. */
static const char *word_at(const json_t *message, const char *member)
{
	const char *text = json_string_at(message, member);

	return text && strlen(text) <= WORD_MAX ? text : NULL;
}

static json_t *word_json(const json_t *message, const char *member)
{
	return json_string_or_null(word_at(message, member));
}

/* ---- events of runs and workers ---- */

static void write_stages(struct event *event, const json_t *message, const json_t *stages)
{
	const char *stage;
	json_t *status;

	json_object_foreach((json_t *)stages, stage, status)
	{
		if (strlen(stage) > WORD_MAX || !word_at(stages, stage))
			continue;
		if (event->text.len)
			buf_text(&event->text, "\n");
		event_write(&event->text, "stage",
			json_pack("{ss so so ss so}", "run", event->run.text, "workspace",
				word_json(message, "workspace"), "at", word_json(message, "at"), "stage", stage,
				"status", word_json(stages, stage)));
	}
}

static bool of_run(struct event *event, const json_t *message)
{
	static const char *const members[] = {"workspace", "status", "at", "comment", "action"};
	json_t *data;

	if (!event->workspace.text[0] || !event->organization.text[0])
		return false;
	event->permission = CAN_READ_RUNS;
	if (json_at(message, "status") || json_at(message, "comment")) {
		data = json_pack("{ss}", "id", event->run.text);
		for (size_t i = 0; i < ARRAY_LEN(members); i++)
			if (word_at(message, members[i]))
				json_object_set_new(data, members[i], word_json(message, members[i]));
		event_write(&event->text, "run", data);
	}
	if (word_at(message, "assessment"))
		event_write(&event->text, "workspace",
			json_pack("{ss so ss}", "id", event->workspace.text, "workspace",
				word_json(message, "workspace"), "changed", "assessment_result"));
	write_stages(event, message, json_at(message, "stages"));
	if (word_at(message, "task-result"))
		event_write(&event->text, "stage",
			json_pack("{ss so so}", "run", event->run.text, "workspace", word_json(message, "workspace"),
				"task-result", word_json(message, "task-result")));
	return true;
}

static bool of_worker(struct event *event, const json_t *message)
{
	event->permission = event->organization.text[0] ? CAN_MANAGE_POOLS : CAN_ADMINISTER_SITE;
	event_write(&event->text, "worker",
		json_pack("{so so so}", "id", word_json(message, "worker"), "pool", word_json(message, "pool"),
			"status", word_json(message, "status")));
	return true;
}

/* ---- events of audited changes ---- */

/* The resources whose changes are shown, with the event and with the permission to see them. A change of any other
 * resource may change permissions. */
static const struct audited {
	const char *type, *event;
	enum permission permission;
} audited[] = {
	{"run", "run", CAN_READ_RUNS},
	{"workspace", "workspace", CAN_READ_WORKSPACE},
	{"configuration_version", "workspace", CAN_READ_RUNS},
	{"state_version", "workspace", CAN_READ_STATE},
	{"var", "workspace", CAN_READ_VARIABLES},
	{"variable", "workspace", CAN_READ_VARIABLES},
	{"schedule", "workspace", CAN_READ_RUNS},
	{"maintenance_window", "workspace", CAN_READ_WORKSPACE},
	{"workspace_change_request", "workspace", CAN_READ_RUNS},
	{"agent", "worker", CAN_MANAGE_POOLS},
};

static const struct audited *audited_find(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(audited); i++)
		if (text_equal(audited[i].type, type))
			return &audited[i];
	return NULL;
}

/* A workspace that is deleted or moved to another project changes permissions as well. */
static bool of_audit(struct event *event, const json_t *message)
{
	const char *resource = word_at(message, "resource");
	const struct audited *row = audited_find(json_string_at(message, "resource-type"));
	bool of_workspace = row && text_equal(row->event, "workspace");

	if (row && text_equal(row->type, "workspace") && id_valid(resource, "ws"))
		text_copy(event->workspace.text, sizeof(event->workspace.text), resource);
	event->changes_access = !row || text_equal(row->type, "workspace");
	if (text_equal(json_string_at(message, "resource-type"), "user") &&
		text_equal(json_string_at(message, "action"), "end_access") && id_valid(resource, "user"))
		text_copy(event->suspended.text, sizeof(event->suspended.text), resource);
	if (!row || !resource || !event->organization.text[0] ||
		(!event->workspace.text[0] && row->permission != CAN_MANAGE_POOLS))
		return true;
	event->permission = row->permission;
	if (text_equal(row->event, "run") && id_valid(resource, "run"))
		text_copy(event->run.text, sizeof(event->run.text), resource);
	event_write(&event->text, row->event,
		json_pack("{ss so so so}", "id", of_workspace ? event->workspace.text : resource, "workspace",
			word_json(message, "workspace"), "changed", word_json(message, "resource-type"), "action",
			word_json(message, "action")));
	return true;
}

static bool read_message(struct event *event, const json_t *message)
{
	if (json_int_at(message, "v", 0) != 1 || !read_id(message, "organization", "org", &event->organization) ||
		!read_id(message, "workspace", "ws", &event->workspace) || !read_id(message, "run", "run", &event->run))
		return false;
	if (json_at(message, "audit"))
		return of_audit(event, message);
	if (event->run.text[0])
		return of_run(event, message);
	return json_at(message, "worker") && of_worker(event, message);
}

struct event *event_of_message(const char *bytes, size_t len)
{
	json_auto_t *message = NULL;
	struct err ignored = ERR_INIT;
	struct event *event;

	if (json_parse(bytes, len, &message, &ignored) < 0)
		return NULL;
	event = mem_new(1, sizeof(*event));
	event->text = (struct buf)BUF_INIT(TEXT_LIMIT);
	if (read_message(event, message))
		return event;
	event_free(event);
	return NULL;
}
