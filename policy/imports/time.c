/* SPDX-License-Identifier: MPL-2.0 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/methods.h"
#include "policy/imports/standard.h"
#include "policy/library/instant.h"

static struct value time_value(struct run *run, const struct instant *instant);

static _Noreturn void fail_range(struct run *run)
{
	run_fail(run, "time: the years must be between 0 and 9999");
}

/* Without an offset of its own, a time is read in the configuration's zone. */
static void use_zone(struct run *run, struct instant *instant)
{
	if (run->timezone && !instant_in_zone(instant, run->timezone))
		run_fail(
			run, "time: the time zone %.64s is not known, or there is no memory to read it", run->timezone);
}

/* ---- arguments ---- */

/* A number of seconds or nanoseconds; floats are truncated. */
static int64_t whole_number(struct run *run, struct value number)
{
	if (value_is(number, VALUE_INT))
		return number.number;
	if (!(fabs(number.real) < 9223372036854775808.0))
		fail_range(run);
	return (int64_t)number.real;
}

static struct instant instant_of_unix(struct run *run, int64_t seconds)
{
	struct instant instant;

	if (!instant_of(seconds, 0, &instant))
		fail_range(run);
	use_zone(run, &instant);
	return instant;
}

static struct instant instant_of_text(struct run *run, struct value text)
{
	struct instant instant;

	run_step_bytes(run, string_len(text));
	if (!instant_parse(string_bytes(text), string_len(text), &instant))
		run_fail(run, "time: not a time of RFC 3339: %.*s", string_len(text) < 64 ? (int)string_len(text) : 64,
			string_bytes(text));
	return instant;
}

/* A map that time.load gave. */
static struct instant instant_of_map(struct run *run, const struct value *args)
{
	struct value seconds, nanoseconds;
	struct instant instant;

	if (!map_get_text(run, args[0], "unix", &seconds) || !map_get_text(run, args[0], "unix_nano", &nanoseconds) ||
		!value_is(seconds, VALUE_INT) || !value_is(nanoseconds, VALUE_INT))
		argument_refuse(run, "a function of times", "a time", args, 0);
	instant = instant_of_unix(run, seconds.number);
	if (nanoseconds.number != INT64_MIN && nanoseconds.number != INT64_MAX)
		instant.nanoseconds = (int32_t)((nanoseconds.number % 1000000000 + 1000000000) % 1000000000);
	return instant;
}

static struct instant instant_argument(struct run *run, const struct value *args)
{
	if (value_is_number(args[0]))
		return instant_of_unix(run, whole_number(run, args[0]));
	if (value_is(args[0], VALUE_STRING))
		return instant_of_text(run, args[0]);
	if (!value_is(args[0], VALUE_MAP))
		argument_refuse(run, "a function of times", "a time, a string or a number", args, 0);
	return instant_of_map(run, args);
}

/* ---- methods ---- */

static int compare(struct run *run, const struct value *args, const void *data)
{
	struct instant other = instant_argument(run, args);

	return instant_compare(data, &other);
}

METHOD_COMPARISON(call_before, compare, order < 0)
METHOD_COMPARISON(call_after, compare, order > 0)
METHOD_COMPARISON(call_equal, compare, order == 0)

static struct value call_add(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct instant sum;

	arguments_check(run, "add", "n", args, count);
	if (!instant_add(data, whole_number(run, args[0]), &sum))
		fail_range(run);
	return time_value(run, &sum);
}

static struct value call_sub(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct instant other = instant_argument(run, args);

	(void)count;
	return value_int(instant_sub(data, &other));
}

static const struct native methods[] = {
	{"before", 1, 1, false, call_before},
	{"after", 1, 1, false, call_after},
	{"equal", 1, 1, false, call_equal},
	{"add", 1, 1, false, call_add},
	{"sub", 1, 1, false, call_sub},
};

/* ---- times ---- */

static void add_name(struct run *run, struct value map, const char *field, const char *format, const struct tm *local)
{
	char name[16];

	strftime(name, sizeof(name), format, local);
	map_set_text(run, map, field, string_text(run, name));
}

static void add_date(struct run *run, struct value map, const struct tm *local)
{
	const struct {
		const char *name;
		int number;
	} fields[] = {
		{"year", local->tm_year + 1900},
		{"month", local->tm_mon + 1},
		{"day", local->tm_mday},
		{"weekday", local->tm_wday},
		{"hour", local->tm_hour},
		{"minute", local->tm_min},
		{"second", local->tm_sec},
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		map_set_text(run, map, fields[i].name, value_int(fields[i].number));
	add_name(run, map, "month_name", "%B", local);
	add_name(run, map, "weekday_name", "%A", local);
}

static struct value time_value(struct run *run, const struct instant *instant)
{
	struct instant *kept = run_alloc(run, 1, sizeof(*kept));
	struct tm local = instant_local(instant);
	struct value map = map_new(run, 20);
	char zone[INSTANT_ZONE_SIZE];

	*kept = *instant;
	add_date(run, map, &local);
	map_set_text(run, map, "unix", value_int(instant->seconds));
	map_set_text(run, map, "unix_nano", value_int(instant_unix_nano(instant)));
	map_set_text(run, map, "zone", value_int(instant->offset));
	instant_zone(instant, zone);
	map_set_text(run, map, "zone_string", string_text(run, zone));
	methods_add(run, map, methods, ARRAY_LEN(methods), kept);
	return map;
}

static struct value call_load(struct run *run, const struct value *args, size_t count, const void *data)
{
	struct instant instant = instant_argument(run, args);

	(void)count;
	(void)data;
	return time_value(run, &instant);
}

/* ---- the import ---- */

void time_set_now(struct run *run, struct value time)
{
	struct instant instant = instant_argument(run, &time);

	run->now = (struct timespec){.tv_sec = instant.seconds, .tv_nsec = instant.nanoseconds};
	run->has_now = true;
}

static struct value now_value(struct run *run)
{
	struct instant instant;

	if (!run->has_now)
		clock_gettime(CLOCK_REALTIME, &run->now);
	run->has_now = true;
	if (!instant_of(run->now.tv_sec, (int32_t)run->now.tv_nsec, &instant))
		fail_range(run);
	use_zone(run, &instant);
	return time_value(run, &instant);
}

static const struct {
	const char *name;
	int64_t nanoseconds;
} durations[] = {
	{"nanosecond", 1},
	{"microsecond", 1000},
	{"millisecond", 1000000},
	{"second", 1000000000},
	{"minute", INT64_C(60) * 1000000000},
	{"hour", INT64_C(3600) * 1000000000},
};

static bool is_named(const char *known, const char *name, size_t len)
{
	return strlen(known) == len && memcmp(known, name, len) == 0;
}

static bool time_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	(void)import;
	if (is_named("now", name, len)) {
		*ret_field = now_value(run);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(durations); i++) {
		if (!is_named(durations[i].name, name, len))
			continue;
		*ret_field = value_int(durations[i].nanoseconds);
		return true;
	}
	return false;
}

static const struct native functions[] = {
	{"load", 1, 1, false, call_load},
};

const struct import import_time = {
	.name = "time",
	.functions = functions,
	.function_count = ARRAY_LEN(functions),
	.field = time_field,
};
