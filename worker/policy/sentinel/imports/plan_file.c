/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/imports/plan_file.h"

#include <string.h>

#include "worker/policy/sentinel/library/json.h"

enum { CHECK_BYTES = 64 << 10 }; /* between two counts of steps */

static _Noreturn void refuse(struct run *run, const struct source *source, const char *at, const char *message)
{
	const struct place place = {.source = source, .offset = (uint32_t)(at - source->text)};

	run_fail_at(run, place, "the JSON is wrong: %s", message);
}

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
}

static const char *skip_space(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

/* ---- skipping ---- */

/* What stands in a document between two values that are used. */
struct skip {
	struct run *run;
	const struct source *source;
	const char *at, *end;
	const char *counted; /* up to where steps are counted */
};

static void count_steps(struct skip *skip)
{
	run_step_bytes(skip->run, (size_t)(skip->at - skip->counted));
	skip->counted = skip->at;
}

static bool is_escaped(const char *begin, const char *quote)
{
	const char *at = quote;

	while (at > begin && at[-1] == '\\')
		at--;
	return (quote - at) % 2 == 1;
}

/* From the opening quote to behind the closing one. */
static void skip_string(struct skip *skip)
{
	const char *begin = skip->at + 1, *quote = begin;

	while (quote < skip->end && (*quote != '"' || is_escaped(begin, quote)))
		quote++;
	if (quote == skip->end)
		refuse(skip->run, skip->source, skip->at, "a string is not closed");
	skip->at = quote + 1;
}

/* The bytes that skip_container looks at. */
enum byte_kind { BYTE_OTHER, BYTE_QUOTE, BYTE_OPEN, BYTE_CLOSE };

static const unsigned char byte_kinds[256] = {
	['"'] = BYTE_QUOTE,
	['{'] = BYTE_OPEN,
	['['] = BYTE_OPEN,
	['}'] = BYTE_CLOSE,
	[']'] = BYTE_CLOSE,
};

static enum byte_kind seek_bracket(struct skip *skip)
{
	while (skip->at < skip->end) {
		const enum byte_kind kind = byte_kinds[(unsigned char)*skip->at];

		if (kind == BYTE_QUOTE)
			skip_string(skip);
		else if (kind != BYTE_OTHER)
			return kind;
		else
			skip->at++;
	}
	return BYTE_OTHER;
}

/* From the opening bracket to behind the closing one. */
static void skip_container(struct skip *skip)
{
	const char *begin = skip->at;
	unsigned depth = 0;

	do {
		const enum byte_kind kind = seek_bracket(skip);

		if (kind == BYTE_OTHER)
			refuse(skip->run, skip->source, begin, "a bracket is not closed");
		skip->at++;
		depth += kind == BYTE_OPEN ? 1 : -1u;
		if (depth > MAX_NESTING)
			run_fail_nesting(skip->run);
		if (skip->at - skip->counted > CHECK_BYTES)
			count_steps(skip);
	} while (depth > 0);
}

/* A number or word, which plan_decode checks. */
static void skip_word(struct skip *skip)
{
	const char *begin = skip->at;

	while (skip->at < skip->end && !is_space(*skip->at) && !strchr(",:]}\"[{", *skip->at))
		skip->at++;
	if (skip->at == begin)
		refuse(skip->run, skip->source, begin, "a value is missing");
}

/* The end of the value that begins there. */
static const char *skip_value(struct run *run, const struct source *source, const char *at, const char *end)
{
	struct skip skip = {.run = run, .source = source, .at = at, .end = end, .counted = at};
	const enum byte_kind kind = at < end ? byte_kinds[(unsigned char)*at] : BYTE_OTHER;

	if (kind == BYTE_QUOTE)
		skip_string(&skip);
	else if (kind == BYTE_OPEN)
		skip_container(&skip);
	else
		skip_word(&skip);
	count_steps(&skip);
	return skip.at;
}

/* ---- parts ---- */

struct plan_part plan_document(struct run *run, const struct source *source)
{
	const char *end = source->text + source->len, *begin = skip_space(source->text, end);

	while (end > begin && is_space(end[-1]))
		end--;
	if (begin == end)
		refuse(run, source, begin, "a value is missing");
	return (struct plan_part){.source = source, .begin = begin, .end = end};
}

char plan_kind(struct plan_part part)
{
	return part.source ? *part.begin : '\0';
}

bool plan_is_null(struct plan_part part)
{
	return !part.source || (part.end - part.begin == 4 && memcmp(part.begin, "null", 4) == 0);
}

struct plan_walk plan_walk(struct plan_part of)
{
	const char kind = plan_kind(of);
	const bool container = kind == '{' || kind == '[';

	return (struct plan_walk){.of = of, .object = kind == '{', .at = container ? of.begin + 1 : of.end};
}

static void expect(struct run *run, struct plan_walk *walk, char byte, const char *message)
{
	walk->at = skip_space(walk->at, walk->of.end);
	if (walk->at == walk->of.end || *walk->at != byte)
		refuse(run, walk->of.source, walk->at, message);
	walk->at++;
	walk->at = skip_space(walk->at, walk->of.end);
}

static struct plan_part take(struct run *run, struct plan_walk *walk)
{
	const char *begin = walk->at;

	walk->at = skip_value(run, walk->of.source, begin, walk->of.end);
	return (struct plan_part){.source = walk->of.source, .begin = begin, .end = walk->at};
}

static void take_name(struct run *run, struct plan_walk *walk)
{
	if (walk->at == walk->of.end || *walk->at != '"')
		refuse(run, walk->of.source, walk->at, "a member's name is missing");
	walk->name = take(run, walk);
	expect(run, walk, ':', "a colon is missing");
}

/* At the closing bracket. */
static bool is_over(struct run *run, struct plan_walk *walk)
{
	walk->at = skip_space(walk->at, walk->of.end);
	if (walk->at == walk->of.end)
		return true;
	if (*walk->at != (walk->object ? '}' : ']'))
		return false;
	walk->at++;
	if (walk->at != walk->of.end)
		refuse(run, walk->of.source, walk->at - 1, "a bracket closes another one");
	return true;
}

bool plan_next(struct run *run, struct plan_walk *walk)
{
	if (!walk->of.source || is_over(run, walk))
		return false;
	if (walk->begun)
		expect(run, walk, ',', "a comma is missing");
	walk->begun = true;
	if (walk->object)
		take_name(run, walk);
	walk->part = take(run, walk);
	return true;
}

bool plan_named(const struct plan_walk *walk, const char *name)
{
	const size_t len = (size_t)(walk->name.end - walk->name.begin) - 2;

	return strlen(name) == len && memcmp(walk->name.begin + 1, name, len) == 0;
}

static struct plan_part member(struct run *run, struct plan_part object, const char *name, size_t len)
{
	struct plan_walk walk = plan_walk(object);
	struct plan_part found = {0};

	while (walk.object && plan_next(run, &walk))
		if ((size_t)(walk.name.end - walk.name.begin) == len + 2 && memcmp(walk.name.begin + 1, name, len) == 0)
			found = walk.part;
	return found;
}

struct plan_part plan_at(struct run *run, struct plan_part object, const char *path)
{
	while (*path) {
		const size_t len = strcspn(path, ".");

		object = member(run, object, path, len);
		path += len + (path[len] == '.');
	}
	return object;
}

/* ---- decoding ---- */

struct value plan_decode(struct run *run, struct plan_part part)
{
	struct json_error error;
	struct value value;

	if (!part.source)
		return value_null();
	if (!json_read(run, part.begin, (size_t)(part.end - part.begin), &value, &error))
		refuse(run, part.source, part.begin + error.offset, error.message);
	return value;
}

/* Bytes from which an object or list is decoded member by member, as they are read. */
enum { LARGE = 8 << 10 };

static struct value make(struct run *run, const void *data);

struct value plan_lazy(struct run *run, struct plan_part part)
{
	const char kind = plan_kind(part);
	struct plan_part *own;
	struct lazy *lazy;

	if (kind != '{' && kind != '[')
		return plan_decode(run, part);
	own = run_alloc(run, 1, sizeof(*own));
	lazy = run_alloc(run, 1, sizeof(*lazy));
	*own = part;
	*lazy = (struct lazy){.make = make, .data = own};
	return (struct value){.type = VALUE_LAZY, .lazy = lazy};
}

static struct value shallow_list(struct run *run, struct plan_part part)
{
	struct plan_walk walk = plan_walk(part);
	struct value list = list_new(run, 0);

	while (plan_next(run, &walk))
		list_push(run, list, plan_lazy(run, walk.part));
	return list;
}

static struct value shallow_map(struct run *run, struct plan_part part)
{
	struct plan_walk walk = plan_walk(part);
	struct value map = map_new(run, 0);

	while (plan_next(run, &walk))
		map_set(run, map, plan_decode(run, walk.name), plan_lazy(run, walk.part));
	return map;
}

static struct value make(struct run *run, const void *data)
{
	const struct plan_part part = *(const struct plan_part *)data;

	if (part.end - part.begin < LARGE)
		return plan_decode(run, part);
	return plan_kind(part) == '{' ? shallow_map(run, part) : shallow_list(run, part);
}
