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

void payload_set(char **member, const char *text)
{
	free(*member);
	*member = mem_text(text);
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
	bool required;
} forms[] = {
	[PAYLOAD_LINE] = {read_line, "a text", false},
	[PAYLOAD_TEXT] = {read_text, "a text", false},
	[PAYLOAD_ID] = {read_line, "a text or a number", false},
	[PAYLOAD_URL] = {read_url, "a text", false},
	[PAYLOAD_SHA] = {read_sha, "a full commit id", true},
	[PAYLOAD_COMMIT] = {read_sha, "a full commit id", false},
	[PAYLOAD_BRANCH] = {read_branch, "the name of a branch", false},
	[PAYLOAD_BASE] = {read_branch, "the name of a branch", true},
	[PAYLOAD_HEAD] = {read_head, "the name of a branch", true},
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

static void fill_text(struct payload *payload, char **member, const json_t *value, const struct payload_field *field)
{
	const bool absent = !value || json_is_null(value) ||
		(!forms[field->form].required && text_equal(json_string_value(value), ""));
	char number[24], *read;
	const char *text;

	if (absent && !forms[field->form].required)
		return;
	text = text_of(value, field->form, number);
	read = text ? forms[field->form].read(text) : NULL;
	if (!read) {
		payload_fail(payload, field->path, forms[field->form].expected);
		return;
	}
	free(*member);
	*member = read;
}

static void fill_number(struct payload *payload, long long *member, const json_t *value, const char *path)
{
	if (json_is_integer(value) && json_integer_value(value) > 0)
		*member = json_integer_value(value);
	else
		payload_fail(payload, path, "the number of a pull request");
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

static long long read_time(const json_t *body, const char *path)
{
	const char *text = json_string_at(body, path);
	long long at = text ? text_time(text) : json_int_at(body, path, 0);

	return at > 0 ? at : 0;
}

static void fill(
	struct payload *payload, struct vcs_event *event, const json_t *from, const struct payload_field *field)
{
	void *member = (char *)event + field->offset;

	switch (field->form) {
	case PAYLOAD_NUMBER:
		fill_number(payload, member, json_at(from, field->path), field->path);
		break;
	case PAYLOAD_INTEGER:
		*(long long *)member = json_int_at(from, field->path, *(long long *)member);
		break;
	case PAYLOAD_FLAG:
		*(bool *)member = json_bool_at(from, field->path, *(bool *)member);
		break;
	case PAYLOAD_TIME:
		*(long long *)member = read_time(from, field->path);
		break;
	case PAYLOAD_FORK:
		*(enum vcs_fork *)member = payload_same(from, field->path, field->other) ? VCS_FORK_NO : VCS_FORK_YES;
		break;
	default:
		fill_text(payload, member, json_at(from, field->path), field);
	}
}

void payload_fill(
	struct payload *payload, struct vcs_event *event, const json_t *from, const struct payload_field *fields)
{
	for (; event && fields && fields->path; fields++)
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
	bool test;

	if (!vcs_ref_valid(ref))
		payload_fail(payload, "ref", "the full name of a ref");
	else if ((!created && !vcs_sha_valid(before)) || (!deleted && !vcs_sha_valid(after)) || (created && deleted))
		payload_fail(payload, "after", "a full commit id");
	if (payload->failed || (!vcs_ref_branch(ref) && !vcs_ref_tag(ref)))
		return NULL;
	test = !created && text_equal(before, after);
	event = payload_add(payload, test ? VCS_PING : kind_of_move(vcs_ref_tag(ref) != NULL, deleted));
	payload_fill(payload, event, payload->body, payload->dialect->common);
	if (event && !test) {
		payload_set(&event->ref, ref);
		payload_set(&event->before, created ? "" : before);
		payload_set(&event->sha, deleted ? "" : after);
	}
	return event;
}

void payload_each(struct payload *payload, const char *path, void (*read)(struct payload *, const json_t *item))
{
	const json_t *list = json_at(payload->body, path), *item;
	size_t i;

	if (!json_is_array(list))
		payload_fail(payload, path, "a list");
	json_array_foreach(list, i, item)
	{
		read(payload, item);
	}
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

bool payload_same(const json_t *body, const char *path, const char *other_path)
{
	const json_t *one = json_at(body, path), *other = json_at(body, other_path);

	return (json_is_integer(one) || json_is_string(one)) && other && json_equal(one, other);
}

bool payload_is_prefix(const char *sha)
{
	const size_t len = sha ? strlen(sha) : 0;

	return len >= 7 && len <= VCS_SHA_MAX && strspn(sha, "0123456789abcdef") == len;
}

void payload_read_ping(struct payload *payload)
{
	payload_add(payload, VCS_PING);
}
