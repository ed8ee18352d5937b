/* SPDX-License-Identifier: MPL-2.0 */
/* Series of metrics: their limits, their removal, and samples that expire. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/metrics.h"

enum { M_EVENTS = M_COMMON_COUNT, M_MEASURED, M_HELD, M_TIMES, M_ALL, LIMIT = 64 << 20 };

static const struct metric table[M_ALL] = {
#define METRIC(symbol, name, type, help) {name, METRIC_##type, help},
#include "common/metrics.def"
#undef METRIC
	{"events_total", METRIC_COUNTER, "Events"},
	{"measured", METRIC_SAMPLE, "Measured again and again"},
	{"held", METRIC_GAUGE, "Set when it changes"},
	{"times_seconds", METRIC_HISTOGRAM, "Times"},
};

static int64_t ahead_ms;

/* Replaces the C library's function: the process's clocks are ahead_ms ahead. */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	int result = (int)syscall(SYS_clock_gettime, id, ret_time);

	ret_time->tv_sec += ahead_ms / 1000;
	return result;
}

static void set_time(int64_t ms)
{
	ahead_ms = ms;
}

static char *metrics_page(void)
{
	struct buf text = BUF_INIT(LIMIT);

	metrics_write(&text);
	return buf_take(&text);
}

/* The line that begins so, from `at` on; NULL: there is none. */
static const char *find_line(const char *at, const char *start)
{
	while (at && strncmp(at, start, strlen(start)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static int count_lines(const char *start)
{
	_cleanup_(freep) char *all = metrics_page();
	int count = 0;

	for (const char *at = find_line(all, start); at; at = find_line(at + 1, start))
		count++;
	return count;
}

static double value_of(const char *series)
{
	_cleanup_(freep) char *all = metrics_page(), *start = mem_printf("%s ", series);
	const char *at = find_line(all, start);

	return at ? strtod(at + strlen(start), NULL) : -1;
}

static int setup(void **state)
{
	(void)state;
	metrics_setup(table, M_ALL);
	return 0;
}

static void metric_accepts_maximum_number_of_series(void **state)
{
	double dropped = value_of("runyard_metrics_dropped_total");

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < METRICS_MAX_SERIES; i++)
			metric_addf(M_EVENTS, 1, "pool=\"%d\"", i);
	assert_int_equal(count_lines("events_total{"), METRICS_MAX_SERIES);
	assert_true(value_of("events_total{pool=\"19999\"}") == 2);
	assert_true(value_of("runyard_metrics_dropped_total") == dropped);
}

static void dropped_series_are_counted(void **state)
{
	double dropped = value_of("runyard_metrics_dropped_total");

	(void)state;
	for (int i = 0; i < METRICS_MAX_HISTOGRAMS + 3; i++)
		metric_observef(M_TIMES, 0.5, "pool=\"%d\"", i);
	assert_int_equal(count_lines("times_seconds_count{"), METRICS_MAX_HISTOGRAMS);
	assert_true(value_of("runyard_metrics_dropped_total") == dropped + 3);
}

/* The time of a change does not depend on the number of series. */
static void changes_are_fast_with_many_series(void **state)
{
	int64_t began = clock_mono_ms();

	(void)state;
	for (int i = 0; i < 400000; i++)
		metric_addf(M_EVENTS, 1, "pool=\"%d\"", i % METRICS_MAX_SERIES);
	assert_true(clock_mono_ms() - began < 10000);
}

static bool has_odd_number(void *data, const char *labels)
{
	(*(int *)data)++;
	return strtol(labels + strlen("pool=\""), NULL, 10) % 2;
}

static void removed_series_can_be_added_again(void **state)
{
	int calls = 0, before = count_lines("events_total{");

	(void)state;
	metric_remove(M_EVENTS, has_odd_number, &calls);
	assert_int_equal(calls, before);
	assert_int_equal(count_lines("events_total{"), before / 2);
	assert_true(value_of("events_total{pool=\"1\"}") == -1);
	assert_true(value_of("events_total{pool=\"2\"}") > 0);
	metric_add(M_EVENTS, "pool=\"1\"", 5);
	assert_true(value_of("events_total{pool=\"1\"}") == 5);
	metric_add(M_EVENTS, "pool=\"last\"", 1);
	assert_int_equal(count_lines("events_total{"), before / 2 + 2);
}

static void expired_samples_are_left_out(void **state)
{
	(void)state;
	set_time(0);
	metric_set(M_MEASURED, "pool=\"a\"", 3);
	metric_set(M_HELD, "", 4);
	set_time(METRICS_SAMPLE_MS - 1000);
	metric_set(M_MEASURED, "pool=\"b\"", 5);
	assert_true(value_of("measured{pool=\"a\"}") == 3);
	set_time(METRICS_SAMPLE_MS + 1000);
	assert_true(value_of("measured{pool=\"a\"}") == -1);
	assert_true(value_of("measured{pool=\"b\"}") == 5);
	set_time(3 * METRICS_SAMPLE_MS);
	assert_int_equal(count_lines("measured{"), 0);
	assert_true(value_of("held") == 4);
	metric_set(M_MEASURED, "pool=\"a\"", 6);
	assert_true(value_of("measured{pool=\"a\"}") == 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metric_accepts_maximum_number_of_series),
		cmocka_unit_test(dropped_series_are_counted),
		cmocka_unit_test(changes_are_fast_with_many_series),
		cmocka_unit_test(removed_series_can_be_added_again),
		cmocka_unit_test(expired_samples_are_left_out),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
