/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/payload_reader.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/err.h"
#include "common/vcs/ref.h"

enum { LINE_MAX_BYTES = 1024, TEXT_MAX_BYTES = 16384, URL_MAX_BYTES = 2048 };

void payload_fail(struct payload *payload, const char *path, const char *expected)
{
	if (!payload->failed)
		err_set(payload->err, ERR_INVALID, "The payload's member \"%s\" is not %s.", path, expected);
	payload->failed = true;
}

struct vcs_event *payload_add(struct payload *payload, enum vcs_event_kind kind)
{
	struct vcs_events *events = &payload->events;
	struct vcs_event *event;

	if (payload->failed || events->count == VCS_EVENTS_MAX)
		return NULL;
	events->items = mem_resize(events->items, events->count + 1, sizeof(*events->items));
	event = &events->items[events->count++];
	*event = (struct vcs_event)VCS_EVENT_INIT;
	event->kind = kind;
	event->ref = mem_text("");
	event->before = mem_text("");
	event->sha = mem_text("");
	vcs_event_from_detail(event, NULL);
	return event;
}

/* --- forms --- */

static char *cut(const char *text, size_t max)
{
	char *copy = mem_new(max + 1, 1);

	text_copy(copy, max + 1, text);
	return copy;
}

static char *read_line(const char *text)
{
	return cut(text, LINE_MAX_BYTES);
}

static char *read_text(const char *text)
{
	return cut(text, TEXT_MAX_BYTES);
}

static char *read_url(const char *text)
{
	const bool web = text_starts(text, "https://") || text_starts(text, "http://");

	return mem_text(web && strlen(text) <= URL_MAX_BYTES ? text : "");
}

static char *read_sha(const char *text)
{
	return vcs_sha_valid(text) ? mem_text(vcs_sha_is_zero(text) ? "" : text) : NULL;
}

static char *read_branch(const char *text)
{
	const char *name = vcs_ref_branch(text);

	name = name ? name : text;
	return vcs_ref_name_valid(name) ? mem_text(name) : NULL;
}

static char *read_head(const char *text)
{
	char *ref = text_starts(text, "refs/") ? mem_text(text) : mem_printf("refs/heads/%s", text);

	if (vcs_ref_valid(ref))
		return ref;
	free(ref);
	return NULL;
}

static const struct {
	char *(*read)(const char *text); /* NULL: the text is wrong */
	const char *expected;
	bool required, keeps;
} forms[] = {
	[PAYLOAD_LINE] = {read_line, "a text", false, false},
	[PAYLOAD_TEXT] = {read_text, "a text", false, false},
	[PAYLOAD_ID] = {read_line, "a text or a number", false, false},
	[PAYLOAD_URL] = {read_url, "a text", false, false},
	[PAYLOAD_SHA] = {read_sha, "a full commit id", true, false},
	[PAYLOAD_COMMIT] = {read_sha, "a full commit id", false, true},
	[PAYLOAD_BRANCH] = {read_branch, "the name of a branch", false, false},
	[PAYLOAD_BASE] = {read_branch, "the name of a branch", true, false},
	[PAYLOAD_HEAD] = {read_head, "the name of a branch", true, false},
};

/* Returns NULL if the member is wrong, or absent. `number` is the room for a number's digits. */
static const char *text_of(const json_t *value, enum payload_form form, char number[24])
{
	if (form == PAYLOAD_ID && json_is_integer(value)) {
		snprintf(number, 24, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
		return number;
	}
	return json_string_value(value);
}

static void fill(
	struct payload *payload, struct vcs_event *event, const json_t *from, const struct payload_field *field)
{
	const json_t *value = json_at(from, field->path);
	const bool absent = !value || json_is_null(value) ||
		(!forms[field->form].required && text_equal(json_string_value(value), ""));
	char **member = (char **)((char *)event + field->offset);
	char number[24], *read = NULL;
	const char *text;

	if (absent && !forms[field->form].required) {
		read = forms[field->form].keeps ? NULL : mem_text("");
	} else {
		text = text_of(value, field->form, number);
		read = text ? forms[field->form].read(text) : NULL;
		if (!read)
			payload_fail(payload, field->path, forms[field->form].expected);
	}
	if (read) {
		free(*member);
		*member = read;
	}
}

void payload_fill(
	struct payload *payload, struct vcs_event *event, const json_t *from, const struct payload_field *fields)
{
	for (; event && fields->path; fields++)
		fill(payload, event, from, fields);
}

/* --- events --- */

static enum vcs_event_kind kind_of_move(bool tag, bool deleted)
{
	static const enum vcs_event_kind kinds[2][2] = {{VCS_PUSH, VCS_BRANCH_DELETE}, {VCS_TAG, VCS_TAG_DELETE}};

	return kinds[tag][deleted];
}

static bool is_none(const char *sha)
{
	return !sha || vcs_sha_is_zero(sha);
}

struct vcs_event *payload_move(struct payload *payload, const char *ref, const char *before, const char *after)
{
	struct vcs_event *event;
	const bool created = is_none(before), deleted = is_none(after);

	if (!vcs_ref_valid(ref))
		payload_fail(payload, "ref", "the full name of a ref");
	else if ((!created && !vcs_sha_valid(before)) || (!deleted && !vcs_sha_valid(after)) || (created && deleted))
		payload_fail(payload, "after", "a full commit id");
	if (payload->failed || (!vcs_ref_branch(ref) && !vcs_ref_tag(ref)))
		return NULL;
	if (!created && text_equal(before, after))
		return payload_add(payload, VCS_PING);
	event = payload_add(payload, kind_of_move(vcs_ref_tag(ref) != NULL, deleted));
	if (!event)
		return NULL;
	free(event->ref);
	event->ref = mem_text(ref);
	if (!created) {
		free(event->before);
		event->before = mem_text(before);
	}
	if (!deleted) {
		free(event->sha);
		event->sha = mem_text(after);
	}
	return event;
}

const json_t *payload_commit(const struct payload *payload, const char *path, const char *id, const char *sha)
{
	const json_t *commit;
	size_t i;

	json_array_foreach(json_at(payload->body, path), i, commit)
	{
		if (text_equal(json_string_at(commit, id), sha))
			return commit;
	}
	return NULL;
}

void payload_number(struct payload *payload, struct vcs_event *event, const char *path)
{
	const json_t *value = json_at(payload->body, path);

	if (!event)
		return;
	if (!json_is_integer(value) || json_integer_value(value) <= 0)
		payload_fail(payload, path, "the number of a pull request");
	else
		event->number = json_integer_value(value);
}

/* The digits of a fraction, as milliseconds. */
static long long fraction_ms(const char *digits, size_t count)
{
	long long ms = 0;

	for (size_t i = 0; i < 3; i++)
		ms = ms * 10 + (i < count ? digits[i] - '0' : 0);
	return ms;
}

static long long text_time(const char *text)
{
	struct tm parts = {.tm_mday = 1}, zone = {.tm_gmtoff = 0};
	const char *rest = strptime(text, "%Y-%m-%d", &parts);
	long long ms = 0;

	if (!rest || (*rest != 'T' && *rest != ' '))
		return 0;
	rest = strptime(rest + 1, "%H:%M:%S", &parts);
	if (rest && *rest == '.') {
		size_t count = strspn(rest + 1, "0123456789");

		ms = fraction_ms(rest + 1, count);
		rest += 1 + count;
	}
	if (rest && !text_equal(rest, " UTC"))
		rest = strptime(rest, "%z", &zone);
	if (!rest || (*rest && !text_equal(rest, " UTC")) || parts.tm_year < 70 || parts.tm_year > 1100)
		return 0;
	return ((long long)timegm(&parts) - zone.tm_gmtoff) * 1000 + ms;
}

long long payload_time(const json_t *body, const char *path)
{
	const char *text = json_string_at(body, path);
	long long at = text ? text_time(text) : json_int_at(body, path, 0);

	return at > 0 ? at : 0;
}

enum vcs_event_kind payload_action(const struct payload_action *actions, const char *name)
{
	while (actions->name && !text_equal(actions->name, name))
		actions++;
	return actions->name ? actions->kind : VCS_EVENT_KINDS;
}

bool payload_same(const json_t *body, const char *path, const char *other_path)
{
	const json_t *one = json_at(body, path), *other = json_at(body, other_path);

	return (json_is_integer(one) || json_is_string(one)) && other && json_equal(one, other);
}

enum vcs_fork payload_fork(const json_t *body, const char *head, const char *base)
{
	return payload_same(body, head, base) ? VCS_FORK_NO : VCS_FORK_YES;
}

void payload_read_ping(struct payload *payload)
{
	payload_add(payload, VCS_PING);
}
