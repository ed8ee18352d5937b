/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "policy/library/instant.h"

static struct instant T(const char *text) {
	struct instant instant;

	if (!instant_parse(text, strlen(text), &instant))
		fail_msg("%s is not parsed", text);
	return instant;
}

/* The date and time, the weekday and the zone, as one text. */
static void
assert_parts(const struct instant *instant, const char *wanted)
{
	struct tm local = instant_local(instant);
	char date[64], text[160], zone[INSTANT_ZONE_SIZE];

	instant_zone(instant, zone);
	strftime(date, sizeof(date), "%H:%M:%S %A %B", &local);
	snprintf(text, sizeof(text), "%04d-%02d-%02d %s %s", local.tm_year + 1900, local.tm_mon + 1, local.tm_mday,
		date, zone);
	assert_string_equal(text, wanted);
}

static void test_texts(void **state)
{
	static const struct {
		const char *text;
		int64_t seconds;
		int32_t nanoseconds;
		const char *parts;
	} rows[] = {
		{"1970-01-01T00:00:00Z", 0, 0, "1970-01-01 00:00:00 Thursday January +00:00"},
		{"2006-01-02T15:04:05Z", 1136214245, 0, "2006-01-02 15:04:05 Monday January +00:00"},
		{"2006-01-02T15:04:05+07:00", 1136189045, 0, "2006-01-02 15:04:05 Monday January +07:00"},
		{"2006-01-02T15:04:05-03:30", 1136226845, 0, "2006-01-02 15:04:05 Monday January -03:30"},
		{"2006-01-02T15:04:05+00:00", 1136214245, 0, "2006-01-02 15:04:05 Monday January +00:00"},
		{"2024-02-29T23:59:59.5Z", 1709251199, 500000000, "2024-02-29 23:59:59 Thursday February +00:00"},
		{"2000-02-29T00:00:00Z", 951782400, 0, "2000-02-29 00:00:00 Tuesday February +00:00"},
		{"1969-12-31T23:59:59.999999999Z", -1, 999999999, "1969-12-31 23:59:59 Wednesday December +00:00"},
		{"2020-01-01T00:00:00.1234567899Z", 1577836800, 123456789,
			"2020-01-01 00:00:00 Wednesday January +00:00"},
		{"9999-12-31T23:59:59Z", 253402300799, 0, "9999-12-31 23:59:59 Friday December +00:00"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct instant instant = T(rows[i].text);

		assert_int_equal(instant.seconds, rows[i].seconds);
		assert_int_equal(instant.nanoseconds, rows[i].nanoseconds);
		assert_parts(&instant, rows[i].parts);
	}
}

static void test_what_is_no_time_is_refused(void **state)
{
	static const char *const texts[] = {"", "2006-01-02", "2006-01-02T15:04:05", "2006-01-02 15:04:05Z",
		"2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2006-13-01T00:00:00Z", "2006-00-01T00:00:00Z",
		"2006-04-31T00:00:00Z", "2006-01-00T00:00:00Z", "2006-01-02T24:00:00Z", "2006-01-02T00:60:00Z",
		"2006-01-02T00:00:60Z", "2006-01-02T00:00:00.Z", "2006-01-02T00:00:00+24:00",
		"2006-01-02T00:00:00+0700", "2006-01-02T00:00:00Zx", "06-01-02T00:00:00Z", "2006-1-2T00:00:00Z",
		"-006-01-02T00:00:00Z", "9999-12-31T23:59:59-01:00"};
	struct instant instant;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (instant_parse(texts[i], strlen(texts[i]), &instant))
			fail_msg("%s is accepted", texts[i]);
}

static void test_arithmetic(void **state)
{
	const int64_t hour = INT64_C(3600000000000);
	struct instant a = T("2024-02-28T23:30:00+02:00"), b;

	(void)state;
	assert_true(instant_add(&a, hour, &b));
	assert_parts(&b, "2024-02-29 00:30:00 Thursday February +02:00");
	assert_int_equal(instant_sub(&b, &a), hour);
	assert_int_equal(instant_sub(&a, &b), -hour);
	assert_int_equal(instant_compare(&a, &b), -1);
	assert_true(instant_add(&a, -1, &b));
	assert_int_equal(b.nanoseconds, 999999999);
	assert_int_equal(instant_sub(&a, &b), 1);
	assert_int_equal(instant_unix_nano(&b), a.seconds * 1000000000 - 1);
	b = T("2024-02-28T21:30:00Z");
	assert_int_equal(instant_compare(&a, &b), 0);
}

static void test_the_range_ends(void **state)
{
	struct instant first, last = T("9999-12-31T23:59:59.999999999Z"), sum;

	(void)state;
	assert_true(instant_of(-INT64_C(62167219200), 0, &first));
	assert_parts(&first, "0000-01-01 00:00:00 Saturday January +00:00");
	assert_false(instant_of(-INT64_C(62167219201), 0, &sum));
	assert_false(instant_of(INT64_MAX, 0, &sum));
	assert_false(instant_add(&last, 1, &sum));
	assert_false(instant_add(&first, -1, &sum));
	assert_true(instant_sub(&last, &first) == INT64_MAX);
	assert_true(instant_sub(&first, &last) == INT64_MIN);
	assert_true(instant_unix_nano(&last) == INT64_MAX);
	assert_true(instant_unix_nano(&first) == INT64_MIN);
}

static void test_zones(void **state)
{
	struct instant winter, summer;

	(void)state;
	assert_true(instant_of(1704067200, 0, &winter));
	assert_true(instant_of(1719792000, 0, &summer));
	assert_true(instant_in_zone(&winter, "UTC"));
	assert_parts(&winter, "2024-01-01 00:00:00 Monday January +00:00");
	assert_false(instant_in_zone(&winter, "Atlantis/Capital"));
	assert_false(instant_in_zone(&winter, "../../etc/passwd"));
	assert_false(instant_in_zone(&winter, ""));
	if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) != 0)
		skip();
	assert_true(instant_in_zone(&winter, "Europe/Berlin"));
	assert_parts(&winter, "2024-01-01 01:00:00 Monday January +01:00");
	assert_true(instant_in_zone(&summer, "Europe/Berlin"));
	assert_parts(&summer, "2024-07-01 02:00:00 Monday July +02:00");
	assert_int_equal(summer.offset, 7200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_what_is_no_time_is_refused),
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_the_range_ends),
		cmocka_unit_test(test_zones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
