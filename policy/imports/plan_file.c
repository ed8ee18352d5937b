/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/plan_file.h"

#include <string.h>

#include "policy/library/json.h"

enum {
	CHECK_BYTES = 64 << 10, /* between two counts of steps */
	SPAN_BYTES = 64,        /* of an object or list that has a span; shorter ones are decoded as a whole */
	SPANS_FIRST = 64,       /* allocated */
	MEMBERS_FIRST = 64,
	IS_SPAN = (int)(1u << 31) /* in the offset of a lazy value: it is the number of a span */
};

/* The place of a larger object or list. Spans are in the order of the document. */
struct plan_span {
	uint32_t begin;
	uint32_t end;  /* while the span is open: the number of the one around it */
	uint32_t next; /* the number of the first span behind it */
};

struct member {
	struct value name, element;
};

/* The members of an object or list, collected so that the value is made with the right size. Without that a policy that
 * reads all maps of a plan takes a quarter more memory. */
struct members {
	struct member *items;
	size_t count, capacity;
};

struct plan {
	const struct source *source;
	struct lazy lazy; /* makes its values of their offset, or of the number of their span */
	struct plan_span *spans;
	uint32_t count, capacity;
	struct members *members; /* of the value that is being made */
};

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
	const char *begin = skip->at + 1, *at = begin, *quote;

	do {
		quote = memchr(at, '"', (size_t)(skip->end - at));
		if (!quote)
			refuse(skip->run, skip->source, skip->at, "a string is not closed");
		at = quote + 1;
	} while (is_escaped(begin, quote));
	skip->at = at;
}

/* The bytes that end a number or word. */
enum byte_kind { BYTE_OTHER, BYTE_BETWEEN, BYTE_QUOTE, BYTE_OPEN, BYTE_CLOSE };

static const unsigned char byte_kinds[256] = {
	['"'] = BYTE_QUOTE,
	['{'] = BYTE_OPEN,
	['['] = BYTE_OPEN,
	['}'] = BYTE_CLOSE,
	[']'] = BYTE_CLOSE,
	[','] = BYTE_BETWEEN,
	[':'] = BYTE_BETWEEN,
	[' '] = BYTE_BETWEEN,
	['\t'] = BYTE_BETWEEN,
	['\n'] = BYTE_BETWEEN,
	['\r'] = BYTE_BETWEEN,
};

static enum byte_kind seek_bracket(struct skip *skip)
{
	while (skip->at < skip->end) {
		const enum byte_kind kind = byte_kinds[(unsigned char)*skip->at];

		if (kind > BYTE_QUOTE)
			return kind;
		if (kind == BYTE_QUOTE)
			skip_string(skip);
		else
			skip->at++;
	}
	return BYTE_OTHER;
}

/* Moves behind the next bracket in the object or list that begins there. */
static enum byte_kind next_bracket(struct skip *skip, const char *begin)
{
	const enum byte_kind kind = seek_bracket(skip);

	if (kind == BYTE_OTHER)
		refuse(skip->run, skip->source, begin, "a bracket is not closed");
	skip->at++;
	if (skip->at - skip->counted > CHECK_BYTES)
		count_steps(skip);
	return kind;
}

static unsigned deeper(struct run *run, unsigned depth, enum byte_kind bracket)
{
	depth += bracket == BYTE_OPEN ? 1 : -1u;
	if (depth > MAX_NESTING)
		run_fail_nesting(run);
	return depth;
}

/* From the opening bracket to behind the closing one. */
static void skip_container(struct skip *skip)
{
	const char *begin = skip->at;
	unsigned depth = 0;

	do
		depth = deeper(skip->run, depth, next_bracket(skip, begin));
	while (depth > 0);
}

/* A number or word, which plan_decode checks. */
static void skip_word(struct skip *skip)
{
	const char *begin = skip->at;

	while (skip->at < skip->end && byte_kinds[(unsigned char)*skip->at] == BYTE_OTHER)
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

/* ---- spans ---- */

static void grow_spans(struct run *run, struct plan *plan)
{
	const uint32_t capacity = plan->capacity ? 2 * plan->capacity : SPANS_FIRST;
	struct plan_span *grown = run_alloc(run, capacity, sizeof(*grown));

	if (plan->count > 0)
		memcpy(grown, plan->spans, plan->count * sizeof(*grown));
	plan->spans = grown;
	plan->capacity = capacity;
}

/* Returns the number of the new span. */
static uint32_t open_span(struct run *run, struct plan *plan, size_t begin, uint32_t around)
{
	if (plan->count == plan->capacity)
		grow_spans(run, plan);
	plan->spans[plan->count] = (struct plan_span){.begin = (uint32_t)begin, .end = around};
	return plan->count++;
}

/* Returns the number of the span around it. A span that is short is dropped; there is none in it. */
static uint32_t close_span(struct plan *plan, uint32_t number, size_t end)
{
	struct plan_span *span = &plan->spans[number];
	const uint32_t around = span->end;

	if (end - span->begin < SPAN_BYTES) {
		plan->count = number;
		return around;
	}
	span->end = (uint32_t)end;
	span->next = plan->count;
	return around;
}

/* The spans of the document's object or list, which begins there. */
static void find_spans(struct run *run, struct plan *plan, const char *begin, const char *end)
{
	const char *text = plan->source->text;
	struct skip skip = {.run = run, .source = plan->source, .at = begin + 1, .end = end, .counted = begin};
	uint32_t open = open_span(run, plan, (size_t)(begin - text), NO_SPAN);
	unsigned depth = 1;

	while (open != NO_SPAN) {
		const enum byte_kind kind = next_bracket(&skip, text + plan->spans[open].begin);

		depth = deeper(run, depth, kind);
		if (kind == BYTE_OPEN)
			open = open_span(run, plan, (size_t)(skip.at - 1 - text), open);
		else
			open = close_span(plan, open, (size_t)(skip.at - text));
	}
	count_steps(&skip);
	if (skip.at != end)
		refuse(run, plan->source, skip_space(skip.at, end), "something follows the value");
}

static struct plan_part span_part(const struct plan *plan, uint32_t number)
{
	const struct plan_span *span = &plan->spans[number];
	const char *text = plan->source->text;

	return (struct plan_part){.plan = plan, .begin = text + span->begin, .end = text + span->end, .span = number};
}

/* ---- parts ---- */

static struct value make(struct run *run, const void *data, uint32_t offset);

struct plan_part plan_document(struct run *run, const struct source *source)
{
	const char *end = source->text + source->len, *begin = skip_space(source->text, end);
	struct plan *plan = run_alloc(run, 1, sizeof(*plan));

	while (end > begin && is_space(end[-1]))
		end--;
	if (begin == end)
		refuse(run, source, begin, "a value is missing");
	*plan = (struct plan){
		.source = source,
		.lazy = {.make = make, .data = plan},
		.members = run_alloc(run, 1, sizeof(*plan->members)),
	};
	if (*begin == '{' || *begin == '[')
		find_spans(run, plan, begin, end);
	return (struct plan_part){.plan = plan, .begin = begin, .end = end, .span = plan->count > 0 ? 0 : NO_SPAN};
}

char plan_kind(struct plan_part part)
{
	return part.plan ? *part.begin : '\0';
}

bool plan_is_null(struct plan_part part)
{
	return !part.plan || (part.end - part.begin == 4 && memcmp(part.begin, "null", 4) == 0);
}

struct plan_walk plan_walk(struct plan_part of)
{
	const char kind = plan_kind(of);
	const bool container = kind == '{' || kind == '[';

	return (struct plan_walk){
		.of = of,
		.object = kind == '{',
		.at = container ? of.begin + 1 : of.end,
		.span = of.span == NO_SPAN ? NO_SPAN : of.span + 1,
	};
}

static void expect(struct run *run, struct plan_walk *walk, char byte, const char *message)
{
	walk->at = skip_space(walk->at, walk->of.end);
	if (walk->at == walk->of.end || *walk->at != byte)
		refuse(run, walk->of.plan->source, walk->at, message);
	walk->at++;
	walk->at = skip_space(walk->at, walk->of.end);
}

/* The next span of the walk begins there. */
static bool at_span(const struct plan_walk *walk)
{
	const struct plan *plan = walk->of.plan;

	return walk->span < plan->count && walk->at == plan->source->text + plan->spans[walk->span].begin;
}

static struct plan_part take(struct run *run, struct plan_walk *walk)
{
	const struct plan *plan = walk->of.plan;
	struct plan_part part = {.plan = plan, .begin = walk->at, .span = NO_SPAN};

	if (at_span(walk)) {
		part = span_part(plan, walk->span);
		walk->span = plan->spans[walk->span].next;
	} else {
		part.end = skip_value(run, plan->source, walk->at, walk->of.end);
	}
	walk->at = part.end;
	return part;
}

static void take_name(struct run *run, struct plan_walk *walk)
{
	if (walk->at == walk->of.end || *walk->at != '"')
		refuse(run, walk->of.plan->source, walk->at, "a member's name is missing");
	walk->name = take(run, walk);
	expect(run, walk, ':', "a colon is missing");
}

/* At the closing bracket. A wrong one is no comma either. */
static bool is_over(struct plan_walk *walk)
{
	walk->at = skip_space(walk->at, walk->of.end);
	return walk->at == walk->of.end || *walk->at == (walk->object ? '}' : ']');
}

bool plan_next(struct run *run, struct plan_walk *walk)
{
	if (!walk->of.plan || is_over(walk))
		return false;
	if (walk->begun)
		expect(run, walk, ',', "a comma is missing");
	walk->begun = true;
	if (walk->object)
		take_name(run, walk);
	walk->part = take(run, walk);
	return true;
}

static struct plan_part member(struct run *run, struct plan_part object, const char *name, size_t len)
{
	struct plan_walk walk = plan_walk(object);
	struct plan_part found = {0};

	while (walk.object && plan_next(run, &walk))
		if (plan_named_bytes(&walk, name, len))
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

	if (!part.plan)
		return value_null();
	if (!json_read(run, part.begin, (size_t)(part.end - part.begin), &value, &error))
		refuse(run, part.plan->source, part.begin + error.offset, error.message);
	return value;
}

struct value plan_lazy(struct run *run, struct plan_part part)
{
	if (!part.plan)
		return plan_decode(run, part);
	return (struct value){
		.type = VALUE_LAZY,
		.offset = part.span == NO_SPAN ? (uint32_t)(part.begin - part.plan->source->text) : part.span | IS_SPAN,
		.lazy = &part.plan->lazy,
	};
}

static void add_member(struct run *run, struct members *members, struct member member)
{
	if (members->count == members->capacity) {
		struct member *old = members->items;

		members->capacity = members->capacity ? 2 * members->capacity : MEMBERS_FIRST;
		members->items = run_alloc(run, members->capacity, sizeof(*members->items));
		if (old)
			memcpy(members->items, old, members->count * sizeof(*old));
	}
	members->items[members->count++] = member;
}

static const struct members *collect(struct run *run, struct plan_part part)
{
	struct members *members = part.plan->members;
	struct plan_walk walk = plan_walk(part);

	members->count = 0;
	while (plan_next(run, &walk))
		add_member(run, members,
			(struct member){
				.name = walk.object ? plan_decode(run, walk.name) : value_null(),
				.element = plan_lazy(run, walk.part),
			});
	return members;
}

static struct value shallow_list(struct run *run, const struct members *members)
{
	struct value list = list_new(run, members->count);

	for (size_t i = 0; i < members->count; i++)
		list_push(run, list, members->items[i].element);
	return list;
}

static struct value shallow_map(struct run *run, const struct members *members)
{
	struct value map = map_new(run, members->count);

	for (size_t i = 0; i < members->count; i++)
		map_set(run, map, members->items[i].name, members->items[i].element);
	return map;
}

/* The value at the offset, which has no span. */
static struct plan_part short_part(struct run *run, const struct plan *plan, uint32_t offset)
{
	const struct source *source = plan->source;
	const char *begin = source->text + offset, *end = source->text + source->len;

	return (struct plan_part){
		.plan = plan, .begin = begin, .end = skip_value(run, source, begin, end), .span = NO_SPAN};
}

static struct value make(struct run *run, const void *data, uint32_t offset)
{
	const struct plan *plan = data;
	struct plan_part part;

	if (!(offset & IS_SPAN))
		return plan_decode(run, short_part(run, plan, offset));
	part = span_part(plan, offset & ~(uint32_t)IS_SPAN);
	return plan_kind(part) == '{' ? shallow_map(run, collect(run, part)) : shallow_list(run, collect(run, part));
}
