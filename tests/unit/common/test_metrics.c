/* SPDX-License-Identifier: MPL-2.0 */
/* Series of metrics: their limits, their removal, and samples that get old. */
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

/* Stands in for the C library's: the process's clocks are ahead_ms ahead. */
int clock_gettime(clockid_t id, struct timespec *ret_time)
{
	int result = (int)syscall(SYS_clock_gettime, id, ret_time);

	ret_time->tv_sec += ahead_ms / 1000;
	return result;
}

static void time_pass_to(int64_t ms)
{
	ahead_ms = ms;
}

static char *page(void)
{
	struct buf text = BUF_INIT(LIMIT);

	metrics_write(&text);
	return buf_take(&text);
}

/* The line that begins so, from `at` on; NULL: there is none. */
static const char *line_find(const char *at, const char *start)
{
	while (at && strncmp(at, start, strlen(start)) != 0) {
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static int lines_with(const char *start)
{
	_cleanup_(freep) char *all = page();
	int count = 0;

	for (const char *at = line_find(all, start); at; at = line_find(at + 1, start))
		count++;
	return count;
}

static double value_of(const char *series)
{
	_cleanup_(freep) char *all = page(), *start = mem_printf("%s ", series);
	const char *at = line_find(all, start);

	return at ? strtod(at + strlen(start), NULL) : -1;
}

static int setup(void **state)
{
	(void)state;
	metrics_setup(table, M_ALL);
	return 0;
}

static void a_metric_has_room_for_every_pool(void **state)
{
	double dropped = value_of("runyard_metrics_dropped_total");

	(void)state;
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < METRICS_MAX_SERIES; i++)
			metric_addf(M_EVENTS, 1, "pool=\"%d\"", i);
	assert_int_equal(lines_with("events_total{"), METRICS_MAX_SERIES);
	assert_true(value_of("events_total{pool=\"19999\"}") == 2);
	assert_true(value_of("runyard_metrics_dropped_total") == dropped);
}

static void what_finds_no_room_is_counted(void **state)
{
	double dropped = value_of("runyard_metrics_dropped_total");

	(void)state;
	for (int i = 0; i < METRICS_MAX_HISTOGRAMS + 3; i++)
		metric_observef(M_TIMES, 0.5, "pool=\"%d\"", i);
	assert_int_equal(lines_with("times_seconds_count{"), METRICS_MAX_HISTOGRAMS);
	assert_true(value_of("runyard_metrics_dropped_total") == dropped + 3);
}

/* A change costs the same with 20,000 series as with one. */
static void a_change_walks_no_list(void **state)
{
	int64_t began = clock_mono_ms();

	(void)state;
	for (int i = 0; i < 400000; i++)
		metric_addf(M_EVENTS, 1, "pool=\"%d\"", i % METRICS_MAX_SERIES);
	assert_true(clock_mono_ms() - began < 10000);
}

static bool is_odd(void *data, const char *labels)
{
	(*(int *)data)++;
	return strtol(labels + strlen("pool=\""), NULL, 10) % 2;
}

static void removed_series_are_gone_and_can_come_back(void **state)
{
	int asked = 0, before = lines_with("events_total{");

	(void)state;
	metric_remove(M_EVENTS, is_odd, &asked);
	assert_int_equal(asked, before);
	assert_int_equal(lines_with("events_total{"), before / 2);
	assert_true(value_of("events_total{pool=\"1\"}") == -1);
	assert_true(value_of("events_total{pool=\"2\"}") > 0);
	metric_add(M_EVENTS, "pool=\"1\"", 5);
	assert_true(value_of("events_total{pool=\"1\"}") == 5);
	metric_add(M_EVENTS, "pool=\"last\"", 1);
	assert_int_equal(lines_with("events_total{"), before / 2 + 2);
}

static void an_old_sample_is_left_out(void **state)
{
	(void)state;
	time_pass_to(0);
	metric_set(M_MEASURED, "pool=\"a\"", 3);
	metric_set(M_HELD, "", 4);
	time_pass_to(METRICS_SAMPLE_MS - 1000);
	metric_set(M_MEASURED, "pool=\"b\"", 5);
	assert_true(value_of("measured{pool=\"a\"}") == 3);
	time_pass_to(METRICS_SAMPLE_MS + 1000);
	assert_true(value_of("measured{pool=\"a\"}") == -1);
	assert_true(value_of("measured{pool=\"b\"}") == 5);
	time_pass_to(3 * METRICS_SAMPLE_MS);
	assert_int_equal(lines_with("measured{"), 0);
	assert_true(value_of("held") == 4);
	metric_set(M_MEASURED, "pool=\"a\"", 6);
	assert_true(value_of("measured{pool=\"a\"}") == 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_metric_has_room_for_every_pool),
		cmocka_unit_test(what_finds_no_room_is_counted),
		cmocka_unit_test(a_change_walks_no_list),
		cmocka_unit_test(removed_series_are_gone_and_can_come_back),
		cmocka_unit_test(an_old_sample_is_left_out),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
