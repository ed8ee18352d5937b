/* SPDX-License-Identifier: MPL-2.0 */
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include <wctype.h>

#include "common/base.h"
#include "policy/core/output.h"
#include "common/text.h"
#include "policy/imports/arguments.h"
#include "policy/imports/standard.h"

struct text {
	const char *bytes;
	size_t len;
};

static struct text text_of(struct value string)
{
	return (struct text){string_bytes(string), string_len(string)};
}

static struct value text_slice(struct run *run, struct value string, struct text part)
{
	size_t from = (size_t)(part.bytes - string_bytes(string));

	return string_slice(run, string, from, from + part.len);
}

static bool has_prefix(struct text text, struct text prefix)
{
	return prefix.len <= text.len && memcmp(text.bytes, prefix.bytes, prefix.len) == 0;
}

static bool has_suffix(struct text text, struct text suffix)
{
	return suffix.len <= text.len && memcmp(text.bytes + text.len - suffix.len, suffix.bytes, suffix.len) == 0;
}

/* ---- prefixes and suffixes ---- */

static struct value call_has_prefix(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.has_prefix", "ss", args, count);
	run_step_bytes(run, string_len(args[1]));
	return value_bool(has_prefix(text_of(args[0]), text_of(args[1])));
}

static struct value call_has_suffix(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.has_suffix", "ss", args, count);
	run_step_bytes(run, string_len(args[1]));
	return value_bool(has_suffix(text_of(args[0]), text_of(args[1])));
}

static struct value call_trim_prefix(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.trim_prefix", "ss", args, count);
	run_step_bytes(run, string_len(args[1]));
	if (!has_prefix(text_of(args[0]), text_of(args[1])))
		return args[0];
	return string_slice(run, args[0], string_len(args[1]), string_len(args[0]));
}

static struct value call_trim_suffix(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.trim_suffix", "ss", args, count);
	run_step_bytes(run, string_len(args[1]));
	if (!has_suffix(text_of(args[0]), text_of(args[1])))
		return args[0];
	return string_slice(run, args[0], 0, string_len(args[0]) - string_len(args[1]));
}

/* ---- upper and lower case ---- */

static locale_t unicode; /* 0: it could not be made */

static void make_unicode(void)
{
	unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

typedef wint_t change_case(wint_t, locale_t);

/* Bytes that are no UTF-8 stay. */
static void add_changed(struct run *run, struct output *output, struct text text, change_case *change)
{
	for (size_t at = 0; at < text.len;) {
		char changed[UTF8_MAX];
		uint32_t code;
		size_t len = utf8_decode(text.bytes + at, text.len - at, &code);
		size_t changed_len = len == 0 ? 0 : utf8_encode((uint32_t)change(code, unicode), changed);

		if (changed_len > 0)
			output_add(run, output, changed, changed_len);
		else
			output_add(run, output, text.bytes + at, len == 0 ? 1 : len);
		at += len == 0 ? 1 : len;
	}
}

static struct value with_case(struct run *run, struct value string, change_case *change)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct output output = {0};

	pthread_once(&once, make_unicode);
	if (unicode == (locale_t)0)
		run_fail(run, "there is no memory for the locale C.UTF-8");
	add_changed(run, &output, text_of(string), change);
	return string_borrow(run, output.bytes, output.len);
}

static struct value call_to_lower(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.to_lower", "s", args, count);
	return with_case(run, args[0], towlower_l);
}

static struct value call_to_upper(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.to_upper", "s", args, count);
	return with_case(run, args[0], towupper_l);
}

/* ---- trimming ---- */

/* The length of the first character; of the first byte if it is no character of UTF-8. */
static size_t first_len(struct text text)
{
	return utf8_step(text.bytes, text.len);
}

static size_t last_len(struct text text)
{
	uint32_t code;

	for (size_t len = 1; len <= UTF8_MAX && len <= text.len; len++)
		if (utf8_decode(text.bytes + text.len - len, len, &code) == len)
			return len;
	return 1;
}

static bool set_has(struct text set, const char *character, size_t len)
{
	for (size_t at = 0; at < set.len;) {
		size_t size = first_len((struct text){set.bytes + at, set.len - at});

		if (size == len && memcmp(set.bytes + at, character, len) == 0)
			return true;
		at += size;
	}
	return false;
}

static struct text trim_left(struct run *run, struct text text, struct text set)
{
	while (text.len > 0) {
		size_t len = first_len(text);

		run_step_bytes(run, set.len);
		if (!set_has(set, text.bytes, len))
			break;
		text.bytes += len;
		text.len -= len;
	}
	return text;
}

static struct text trim_right(struct run *run, struct text text, struct text set)
{
	while (text.len > 0) {
		size_t len = last_len(text);

		run_step_bytes(run, set.len);
		if (!set_has(set, text.bytes + text.len - len, len))
			break;
		text.len -= len;
	}
	return text;
}

static struct value call_trim_left(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.trim_left", "ss", args, count);
	return text_slice(run, args[0], trim_left(run, text_of(args[0]), text_of(args[1])));
}

static struct value call_trim_right(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	arguments_check(run, "strings.trim_right", "ss", args, count);
	return text_slice(run, args[0], trim_right(run, text_of(args[0]), text_of(args[1])));
}

static struct value call_trim(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct text text;

	(void)data;
	arguments_check(run, "strings.trim", "ss", args, count);
	text = trim_left(run, text_of(args[0]), text_of(args[1]));
	return text_slice(run, args[0], trim_right(run, text, text_of(args[1])));
}

static struct value call_trim_space(struct run *run, const struct value *args, size_t count, const void *data)
{
	/* The white space of Unicode. */
	static const char spaces[] = "\t\n\v\f\r \xc2\x85\xc2\xa0\xe1\x9a\x80\xe2\x80\x80\xe2\x80\x81\xe2\x80\x82"
				     "\xe2\x80\x83\xe2\x80\x84\xe2\x80\x85\xe2\x80\x86\xe2\x80\x87\xe2\x80\x88"
				     "\xe2\x80\x89\xe2\x80\x8a\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaf\xe2\x81\x9f"
				     "\xe3\x80\x80";
	static const struct text set = {spaces, sizeof(spaces) - 1};
	struct text text;

	(void)data;
	arguments_check(run, "strings.trim_space", "s", args, count);
	text = trim_left(run, text_of(args[0]), set);
	return text_slice(run, args[0], trim_right(run, text, set));
}

/* ---- split, join, replace ---- */

/* Without a separator: each character is a part. */
static struct value split_characters(struct run *run, struct value string)
{
	struct text rest = text_of(string);
	struct value list = list_new(run, 0);

	while (rest.len > 0) {
		size_t len = first_len(rest);

		run_step(run, 1);
		list_push(run, list, text_slice(run, string, (struct text){rest.bytes, len}));
		rest.bytes += len;
		rest.len -= len;
	}
	return list;
}

static struct value split(struct run *run, struct value string, struct text separator)
{
	struct text rest = text_of(string);
	struct value list = list_new(run, 0);
	const char *found;

	run_step_bytes(run, rest.len);
	while ((found = memmem(rest.bytes, rest.len, separator.bytes, separator.len)) != NULL) {
		size_t len = (size_t)(found - rest.bytes);

		run_step(run, 1);
		list_push(run, list, text_slice(run, string, (struct text){rest.bytes, len}));
		rest.bytes += len + separator.len;
		rest.len -= len + separator.len;
	}
	list_push(run, list, text_slice(run, string, rest));
	return list;
}

static struct value call_split(struct run *run, const struct value *args, size_t count, const void *data)
{
	(void)data;
	if (value_is(args[0], VALUE_LIST))
		return args[0];
	arguments_check(run, "strings.split", "ss", args, count);
	if (string_len(args[1]) == 0)
		return split_characters(run, args[0]);
	return split(run, args[0], text_of(args[1]));
}

struct joined {
	struct output output;
	struct text separator;
	bool began;
	struct value undefined; /* an element that is undefined, or null */
};

static void join_element(struct run *run, struct joined *joined, struct value element);

static void join_list(struct run *run, struct joined *joined, struct value list)
{
	struct iterator at = value_iterate(run, list);

	run_enter(run);
	while (iterator_next(run, &at))
		join_element(run, joined, at.element);
	run_leave(run);
}

static void join_scalar(struct run *run, struct joined *joined, struct value scalar)
{
	struct value text = value_print(run, scalar, VALUE_BARE);

	if (joined->began)
		output_add(run, &joined->output, joined->separator.bytes, joined->separator.len);
	joined->began = true;
	output_add(run, &joined->output, string_bytes(text), string_len(text));
}

static void join_element(struct run *run, struct joined *joined, struct value element)
{
	if (value_is(element, VALUE_LIST))
		join_list(run, joined, element);
	else if (value_is(element, VALUE_UNDEFINED))
		joined->undefined = element;
	else if (value_is(element, VALUE_MAP) || value_is(element, VALUE_FUNCTION))
		run_fail(run, "strings.join takes a list of scalars, one of its elements is a %s",
			value_type_name(element));
	else
		join_scalar(run, joined, element);
}

static struct value call_join(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct joined joined = {.undefined = value_null()};

	(void)data;
	arguments_check(run, "strings.join", "ls", args, count);
	joined.separator = text_of(args[1]);
	join_list(run, &joined, args[0]);
	if (value_is(joined.undefined, VALUE_UNDEFINED))
		return joined.undefined;
	return string_borrow(run, joined.output.bytes, joined.output.len);
}

/* The old text is empty: the new one stands before each character and at the end. */
static struct value intersperse(struct run *run, struct text text, struct text new_text, uint64_t times)
{
	struct output output = {0};

	while (times > 0) {
		size_t len = first_len(text);

		output_add(run, &output, new_text.bytes, new_text.len);
		output_add(run, &output, text.bytes, len);
		text.bytes += len;
		text.len -= len;
		times--;
		if (len == 0)
			break;
	}
	output_add(run, &output, text.bytes, text.len);
	return string_borrow(run, output.bytes, output.len);
}

static struct value replace(struct run *run, struct text text, struct text old, struct text new_text, uint64_t times)
{
	struct output output = {0};
	const char *found;

	run_step_bytes(run, text.len);
	while (times > 0 && (found = memmem(text.bytes, text.len, old.bytes, old.len)) != NULL) {
		size_t len = (size_t)(found - text.bytes);

		output_add(run, &output, text.bytes, len);
		output_add(run, &output, new_text.bytes, new_text.len);
		text.bytes += len + old.len;
		text.len -= len + old.len;
		times--;
	}
	output_add(run, &output, text.bytes, text.len);
	return string_borrow(run, output.bytes, output.len);
}

static struct value call_replace(struct run *run, const struct value *args, size_t count, const void *data)
{
	uint64_t times;

	(void)data;
	arguments_check(run, "strings.replace", "sssi", args, count);
	times = count > 3 && args[3].number >= 0 ? (uint64_t)args[3].number : UINT64_MAX;
	if (string_len(args[1]) == 0)
		return intersperse(run, text_of(args[0]), text_of(args[2]), times);
	return replace(run, text_of(args[0]), text_of(args[1]), text_of(args[2]), times);
}

static const struct native functions[] = {
	{"has_prefix", 2, 2, false, call_has_prefix},
	{"has_suffix", 2, 2, false, call_has_suffix},
	{"trim_prefix", 2, 2, false, call_trim_prefix},
	{"trim_suffix", 2, 2, false, call_trim_suffix},
	{"to_lower", 1, 1, false, call_to_lower},
	{"to_upper", 1, 1, false, call_to_upper},
	{"split", 2, 2, false, call_split},
	{"join", 2, 2, false, call_join},
	{"replace", 3, 4, false, call_replace},
	{"trim", 2, 2, false, call_trim},
	{"trim_left", 2, 2, false, call_trim_left},
	{"trim_right", 2, 2, false, call_trim_right},
	{"trim_space", 1, 1, false, call_trim_space},
};

const struct import import_strings = {
	.name = "strings",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
};
