/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/applied.h"

#include <ctype.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/json/json.h"

enum { ADDRESS_PARTS_MIN = 2 };

static const char redacted[] = "(sensitive value)";
static const char destroying[] = "delete";

struct applied {
	json_t *reports; /* address -> {id: {action, address, type, provider, id}} */
	json_t *ids;     /* address -> id of the instance that is being destroyed */
	size_t count;
};

struct applied *applied_new(void)
{
	struct applied *applied = mem_new(1, sizeof(*applied));

	*applied = (struct applied){.reports = json_object(), .ids = json_object()};
	return applied;
}

void applied_free(struct applied *applied)
{
	if (!applied)
		return;
	json_decref(applied->reports);
	json_decref(applied->ids);
	free(applied);
}

/* ---- addresses ---- */

static bool name_char(char c, bool first)
{
	return isalpha((unsigned char)c) || c == '_' || (!first && (isdigit((unsigned char)c) || c == '-'));
}

/* Returns the end of the name at `at`, or NULL if there is none. */
static const char *name_end(const char *at)
{
	if (!name_char(*at, true))
		return NULL;
	while (name_char(*at, false))
		at++;
	return at;
}

/* Returns the end of a quoted key; `at` is its first character. NULL if the key is malformed or HCL would evaluate a
 * part of it. "$${" is an escaped "${" and is allowed. */
static const char *quoted_end(const char *at)
{
	for (; *at != '"'; at++) {
		size_t run = strspn(at, *at == '%' ? "%" : "$");

		if ((unsigned char)*at < 0x20 || *at == 0x7f || (run > 0 && at[run] == '{' && run != 2))
			return NULL;
		if (*at == '\\' && !*++at)
			return NULL;
		at += run > 0 ? run - 1 : 0;
	}
	return at + 1;
}

static const char *key_end(const char *at)
{
	if (*at == '"')
		at = quoted_end(at + 1);
	else
		at += strspn(at, "0123456789");
	return at && *at == ']' && at[-1] != '[' ? at + 1 : NULL;
}

/* Returns the end of the name at `at` and its key, or NULL. */
static const char *part_end(const char *at)
{
	at = name_end(at);
	return at && *at == '[' ? key_end(at + 1) : at;
}

bool applied_address_valid(const char *address)
{
	const char *at = address;
	int parts = 0;

	if (strlen(address) > APPLIED_TEXT_MAX)
		return false;
	while ((at = part_end(at))) {
		parts++;
		if (!*at)
			return parts >= ADDRESS_PARTS_MIN;
		if (*at++ != '.')
			return false;
	}
	return false;
}

void applied_quote(struct buf *out, const char *text)
{
	json_auto_t *value = json_string(text);
	_cleanup_(freep) char *quoted = json_text(value);

	for (const char *at = quoted; *at; at++)
		buf_printf(out, (*at == '$' || *at == '%') && at[1] == '{' ? "%c%c" : "%c", *at, *at);
}

/* Builds the address of an instance, or returns NULL if it is invalid. `key` is a number, a string or absent. The
 * caller frees the address. */
static char *address_of(const char *module, const char *type, const char *name, const json_t *key)
{
	struct buf text = BUF_INIT(APPLIED_TEXT_MAX + 1);
	long long index = 0;
	char *address;

	if (json_is_number(key) && json_whole(key, 0, JSON_WHOLE_MAX, &index) < 0)
		return NULL;
	buf_printf(&text, "%s%s%s.%s", module, *module ? "." : "", type, name);
	if (json_is_number(key))
		buf_printf(&text, "[%lld]", index);
	if (json_is_string(key)) {
		buf_text(&text, "[");
		applied_quote(&text, json_string_value(key));
		buf_text(&text, "]");
	}
	address = applied_address_valid(buf_str(&text)) ? mem_text(buf_str(&text)) : NULL;
	buf_release(&text);
	return address;
}

/* ---- reports ---- */

struct report {
	const char *action, *address, *type, *provider, *id;
};

static const char *id_known(const char *id)
{
	return id && !strstr(id, redacted) && strlen(id) <= APPLIED_TEXT_MAX ? id : "";
}

/* A later report of the same instance replaces an earlier one. */
static void report_add(struct applied *applied, const struct report *report)
{
	json_t *instances = json_object_get(applied->reports, report->address);

	if (!instances) {
		instances = json_object();
		json_object_set_new(applied->reports, report->address, instances);
	}
	if (!json_object_get(instances, report->id) && ++applied->count > APPLIED_MAX)
		return;
	json_object_del(instances, report->id);
	json_object_set_new(instances, report->id,
		json_pack("{ss ss ss ss ss}", "action", report->action, "address", report->address, "type",
			report->type, "provider", report->provider, "id", report->id));
}

static void started(struct applied *applied, const char *address, const char *id)
{
	if (json_object_size(applied->ids) < APPLIED_MAX)
		json_object_set_new(applied->ids, address, json_string(id));
}

static void completed(struct applied *applied, struct report *report)
{
	const char *id = json_string_value(json_object_get(applied->ids, report->address));

	if (text_equal(report->action, destroying) && !*report->id)
		report->id = text_or_empty(id);
	report_add(applied, report);
	json_object_del(applied->ids, report->address);
}

/* ---- JSON lines ---- */

static const char *action_find(const char *word)
{
	static const char *const words[] = {"create", "update", destroying};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (text_equal(words[i], word))
			return words[i];
	return NULL;
}

static bool short_name(const char *text)
{
	return text && strlen(text) <= APPLIED_TEXT_MAX;
}

static void hook_take(struct applied *applied, const json_t *hook, bool complete)
{
	const json_t *resource = json_at(hook, "resource");
	const char *type = json_string_at(resource, "resource_type"), *name = json_string_at(resource, "resource_name");
	const char *provider = json_string_at(resource, "implied_provider");
	const bool has_id = text_equal(json_string_at(hook, "id_key"), "id");
	struct report report = {.action = action_find(json_string_at(hook, "action")),
		.type = type,
		.provider = short_name(provider) ? provider : "",
		.id = has_id ? id_known(json_string_at(hook, "id_value")) : ""};
	_cleanup_(freep) char *address = NULL;

	if (!report.action || !type || !name)
		return;
	address = address_of(
		text_or_empty(json_string_at(resource, "module")), type, name, json_at(resource, "resource_key"));
	report.address = address;
	if (!address || text_starts(text_or_empty(json_string_at(resource, "resource")), "data."))
		return;
	if (complete)
		completed(applied, &report);
	else if (text_equal(report.action, destroying))
		started(applied, address, report.id);
}

static bool line_has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

static void json_line(struct applied *applied, const char *line, size_t len)
{
	bool complete = line_has(line, len, "\"apply_complete\"");
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	if ((!complete && !line_has(line, len, "\"apply_start\"")) || json_parse(line, len, &value, &err) < 0)
		return;
	if (text_equal(json_string_at(value, "type"), complete ? "apply_complete" : "apply_start"))
		hook_take(applied, json_at(value, "hook"), complete);
}

/* ---- plain lines ---- */

static const struct {
	const char *text, *action;
	bool complete;
} plain[] = {
	{": Creation complete after ", "create", true},
	{": Modifications complete after ", "update", true},
	{": Destruction complete after ", destroying, true},
	{": Destroying... ", destroying, false},
};

/* Engines shorten longer ids in plain lines: "abc...xyz". */
enum { PLAIN_ID_MAX = 80 };

static const char *plain_id_known(const char *id)
{
	return strlen(id) >= PLAIN_ID_MAX - 1 && strstr(id, "...") ? "" : id_known(id);
}

/* Returns the ID of "[id=ID]" at the end of a line. The caller frees it. */
static char *plain_id(const char *rest)
{
	static const char begin[] = "[id=";
	const char *at = strstr(rest, begin);
	size_t len = at ? strlen(at) : 0;

	return len > strlen(begin) && at[len - 1] == ']'
		? mem_printf("%.*s", (int)(len - sizeof(begin)), at + strlen(begin))
		: mem_text("");
}

/* The type in a valid address, which is the last name but one: aws_vpc in "module.a.aws_vpc.b[0]". The caller frees
 * it. */
static char *plain_type(const char *address)
{
	const char *type = address, *end;

	for (const char *part = address; *(end = part_end(part)); part = end + 1)
		type = part;
	return mem_printf("%.*s", (int)(name_end(type) - type), type);
}

static void plain_take(struct applied *applied, char *address, const char *rest, size_t kind)
{
	char *deposed = strstr(address, " (deposed object ");
	_cleanup_(freep) char *id = plain_id(rest);
	_cleanup_(freep) char *type = NULL;
	_cleanup_(freep) char *provider = NULL;

	if (deposed)
		*deposed = '\0';
	if (!applied_address_valid(address))
		return;
	type = plain_type(address);
	provider = mem_printf("%.*s", (int)strcspn(type, "_"), type);
	if (plain[kind].complete)
		completed(applied, &(struct report){plain[kind].action, address, type, provider, plain_id_known(id)});
	else
		started(applied, address, plain_id_known(id));
}

static void plain_line(struct applied *applied, const char *line, size_t len)
{
	_cleanup_(freep) char *text = NULL;

	if (len > (size_t)4 * APPLIED_TEXT_MAX || memchr(line, '\0', len))
		return;
	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		const char *at = memmem(line, len, plain[i].text, strlen(plain[i].text));

		if (!at)
			continue;
		text = mem_printf("%.*s", (int)len, line);
		text[at - line] = '\0';
		plain_take(applied, text, text + (at - line) + strlen(plain[i].text), i);
		return;
	}
}

void applied_line(struct applied *applied, const char *line, size_t len)
{
	if (len > 0 && *line == '{')
		json_line(applied, line, len);
	else
		plain_line(applied, line, len);
}

void applied_text(struct applied *applied, const char *text, size_t len)
{
	const char *end;

	for (; (end = memchr(text, '\n', len)); len -= (size_t)(end + 1 - text), text = end + 1)
		applied_line(applied, text, (size_t)(end - text));
}

/* ---- the state ---- */

/* The state is scanned, not parsed: it is a job's, and parsed it would take many times its size. */

enum { SCALAR_MOST = 8 * APPLIED_TEXT_MAX };

static void id_add(json_t *ids, struct json_span attributes)
{
	struct json_member id = {.name = "id"};
	json_auto_t *value = NULL;

	json_scan_members(attributes, &id, 1);
	value = json_of_scalar(id.value, SCALAR_MOST);
	json_object_set_new(ids, text_or_empty(json_string_value(value)), json_null());
}

enum { MODE, TYPE, NAME, MODULE, INSTANCES, RESOURCE_MEMBERS };

struct indexing {
	const struct applied *applied;
	json_t *index; /* address -> {id: null}, the ids of all its instances, deposed ones included; "": unknown */
	size_t parts;  /* resources and instances that were read */
};

/* Adds an instance whose address has reports. */
static void instance_add(const struct indexing *to, json_t *const *texts, struct json_span instance)
{
	struct json_member members[] = {{.name = "index_key"}, {.name = "attributes"}};
	_cleanup_(freep) char *address = NULL;
	json_auto_t *key = NULL;
	json_t *ids;

	json_scan_members(instance, members, ARRAY_LEN(members));
	key = json_of_scalar(members[0].value, SCALAR_MOST);
	address = address_of(text_or_empty(json_string_value(texts[MODULE])), json_string_value(texts[TYPE]),
		json_string_value(texts[NAME]), key);
	if (!address || !json_object_get(to->applied->reports, address))
		return;
	ids = json_object_get(to->index, address);
	if (!ids) {
		ids = json_object();
		json_object_set_new(to->index, address, ids);
	}
	id_add(ids, members[1].value);
}

/* Reads the next resource or instance. False at the end, or at the limit. */
static bool parts_next(struct indexing *to, struct json_scan *scan, struct json_span *ret_part)
{
	struct json_span no_name;

	return json_scan_next(scan, &no_name, ret_part) > 0 && ++to->parts <= APPLIED_PARTS_MAX;
}

static void resource_add(struct indexing *to, struct json_span resource)
{
	struct json_member members[RESOURCE_MEMBERS] = {[MODE] = {.name = "mode"},
		[TYPE] = {.name = "type"},
		[NAME] = {.name = "name"},
		[MODULE] = {.name = "module"},
		[INSTANCES] = {.name = "instances"}};
	json_t *texts[INSTANCES];
	struct json_span instance;
	struct json_scan scan;

	json_scan_members(resource, members, ARRAY_LEN(members));
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		texts[i] = json_of_scalar(members[i].value, SCALAR_MOST);
	if (json_is_string(texts[TYPE]) && json_is_string(texts[NAME]) &&
		text_equal(json_string_value(texts[MODE]), "managed") &&
		json_scan_open(members[INSTANCES].value, &scan) == 0 && scan.close == ']')
		while (parts_next(to, &scan, &instance))
			instance_add(to, texts, instance);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		json_decref(texts[i]);
}

/* NULL if the state has more than APPLIED_PARTS_MAX. */
static json_t *state_index(const struct applied *applied, struct json_span state)
{
	struct indexing to = {.applied = applied, .index = json_object()};
	struct json_member resources = {.name = "resources"};
	struct json_span resource;
	struct json_scan scan;

	json_scan_members(state, &resources, 1);
	if (json_scan_open(resources.value, &scan) == 0 && scan.close == ']')
		while (parts_next(&to, &scan, &resource))
			resource_add(&to, resource);
	if (to.parts <= APPLIED_PARTS_MAX)
		return to.index;
	json_decref(to.index);
	return NULL;
}

static bool ids_have(const json_t *ids, const char *id)
{
	return json_object_get(ids, id) || json_object_get(ids, "");
}

/* ---- missing resources ---- */

/* If the id of a destroyed instance is unknown, it can't be distinguished from the instance that replaced it. */
static bool replaced(const json_t *instances)
{
	const char *id;
	json_t *report;

	json_object_foreach((json_t *)instances, id, report)
	{
		if (!text_equal(json_string_at(report, "action"), destroying))
			return true;
	}
	return false;
}

static bool report_is_missing(const json_t *instances, const json_t *report, const json_t *ids)
{
	const char *id = json_string_at(report, "id");

	if (!text_equal(json_string_at(report, "action"), destroying))
		return !ids || (*id && !ids_have(ids, id));
	return ids && (*id ? ids_have(ids, id) : !replaced(instances));
}

json_t *applied_missing(const struct applied *applied, struct json_span state)
{
	json_auto_t *index = state_index(applied, state);
	json_t *missing = json_array(), *instances, *report;
	const char *address, *id;

	if (!index)
		return missing;
	json_object_foreach(applied->reports, address, instances)
	{
		const json_t *ids = json_object_get(index, address);

		json_object_foreach(instances, id, report)
		{
			if (json_array_size(missing) < APPLIED_MISSING_MAX && report_is_missing(instances, report, ids))
				json_array_append(missing, report);
		}
	}
	return missing;
}
