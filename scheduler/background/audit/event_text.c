/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/audit/event_text.h"

#include <string.h>

#include "common/build_info.h"
#include "common/json/json.h"

enum {
	FACILITY_AUDIT = 13,
	SEVERITY_WARNING = 4,
	SEVERITY_NOTICE = 5,
	CEF_HIGH = 7,
	CEF_LOW = 3,
	TEXT_LIMIT = 1 << 20
};

/* Events that a watcher of the site wants to see first. */
static bool is_alarming(const struct audit_unsent_row *event)
{
	return text_starts(event->action, "refused") || strstr(event->action, "failed") ||
		text_starts(event->action, "impersonate");
}

char *event_json(const struct audit_unsent_row *event)
{
	json_auto_t *document = json_pack("{ss ss so so s{ss so so} so so ss ss s{ss so} so so so}", "id", event->id,
		"timestamp", event->at, "organization", json_string_or_null(event->organization), "organization_id",
		json_string_or_null(event->organization_id), "actor", "type", event->actor_type, "id",
		json_string_or_null(event->actor_id), "name", json_string_or_null(event->actor_name), "token",
		json_string_or_null(event->token_id), "address", json_string_or_null(event->address), "request",
		event->request_id, "action", event->action, "resource", "type", event->resource_type, "id",
		json_string_or_null(event->resource_id), "workspace", json_string_or_null(event->workspace_id),
		"attributes", json_shown(event->attributes), "details", json_shown(event->details));

	return json_text(document);
}

/* ---- CEF ---- */

/* In the header a pipe, in the extension an equals sign has a backslash before it; line ends are written as \n. */
static void cef_escaped(struct buf *out, const char *text, char special)
{
	for (; *text; text++) {
		if (*text == '\n' || *text == '\r') {
			buf_text(out, "\\n");
			continue;
		}
		if (*text == '\\' || *text == special)
			buf_text(out, "\\");
		buf_append(out, text, 1);
	}
}

static void cef_member(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_printf(out, "%s%s=", out->len && out->data[out->len - 1] != '|' ? " " : "", name);
	cef_escaped(out, value, '=');
}

static void cef_custom(struct buf *out, int number, const char *label, const char *value)
{
	char name[8], label_name[16];

	if (!value || !*value)
		return;
	snprintf(name, sizeof(name), "cs%d", number);
	snprintf(label_name, sizeof(label_name), "cs%dLabel", number);
	cef_member(out, label_name, label);
	cef_member(out, name, value);
}

char *event_cef(const struct audit_unsent_row *event)
{
	struct buf out = BUF_INIT(TEXT_LIMIT);

	buf_text(&out, "CEF:0|Runyard|Runyard|");
	cef_escaped(&out, build_version, '|');
	buf_text(&out, "|");
	cef_escaped(&out, event->resource_type, '|');
	buf_text(&out, ":");
	cef_escaped(&out, event->action, '|');
	buf_text(&out, "|");
	cef_escaped(&out, event->resource_type, '|');
	buf_text(&out, " ");
	cef_escaped(&out, event->action, '|');
	buf_printf(&out, "|%d|rt=%lld", is_alarming(event) ? CEF_HIGH : CEF_LOW, event->at_ms);
	cef_member(&out, "externalId", event->id);
	cef_member(&out, "act", event->action);
	cef_member(&out, "suid", event->actor_id);
	cef_member(&out, "suser", event->actor_name);
	cef_member(&out, "src", event->address);
	cef_custom(&out, 1, "organization", event->organization ? event->organization : event->organization_id);
	cef_custom(&out, 2, "resource", event->resource_id);
	cef_custom(&out, 3, "workspace", event->workspace_id);
	cef_custom(&out, 4, "token", event->token_id);
	cef_custom(&out, 5, "request", event->request_id);
	cef_custom(&out, 6, "attributes", text_equal(event->attributes, "[]") ? "" : event->attributes);
	cef_member(&out, "msg", text_equal(event->details, "{}") ? "" : event->details);
	return buf_take(&out);
}

/* ---- syslog ---- */

/* The names of the header are printable ASCII without blanks. */
static void header_name(char *ret, size_t size, const char *text)
{
	size_t at = 0;

	for (; *text && at + 1 < size; text++)
		ret[at++] = *text > ' ' && *text < 127 ? *text : '_';
	ret[at] = '\0';
}

void event_frame(struct buf *out, const struct audit_unsent_row *event, const char *host, const char *text)
{
	int severity = is_alarming(event) ? SEVERITY_WARNING : SEVERITY_NOTICE;
	char name[33], shown_host[256];
	_cleanup_(freep) char *head = NULL;

	header_name(name, sizeof(name), event->action);
	header_name(shown_host, sizeof(shown_host), *host ? host : "-");
	head = mem_printf("<%d>1 %s %s runyard-scheduler - %s - ", FACILITY_AUDIT * 8 + severity, event->at, shown_host,
		*name ? name : "-");
	buf_printf(out, "%zu ", strlen(head) + strlen(text));
	buf_text(out, head);
	buf_text(out, text);
}
