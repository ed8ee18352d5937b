/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/schedules/cron.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base.h"

/* A day of the week on February 29 comes again after at most 40 years. */
enum { MAX_TEXT = 256, MAX_YEARS = 48, LEAP_YEAR = 2024 };

static const char *const month_names[] = {
	"jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", NULL};
static const char *const weekday_names[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat", NULL};

static const struct field {
	const char *name;
	int first, last;
	const char *const *names; /* of the values from `first` on, or NULL */
} fields[] = {
	{"minute", 0, 59, NULL},
	{"hour", 0, 23, NULL},
	{"day of the month", 1, 31, NULL},
	{"month", 1, 12, month_names},
	{"day of the week", 0, 7, weekday_names},
};
enum { MINUTE, HOUR, DAY, MONTH, WEEKDAY, FIELDS };

/* ---- reading ---- */

static int field_wrong(const struct field *field, const char *text, struct err *err)
{
	return err_set(err, ERR_INVALID,
		"Cron has an invalid %s, %.40s: expected *, values from %d to %d, ranges (1-5), steps (*/10) or lists "
		"of them",
		field->name, text, field->first, field->last);
}

static bool value_read(const struct field *field, const char *text, int *ret_value)
{
	long long number;

	for (int i = 0; field->names && field->names[i]; i++)
		if (strcasecmp(field->names[i], text) == 0) {
			*ret_value = field->first + i;
			return true;
		}
	if (text[strspn(text, "0123456789")] || text_number(text, field->first, field->last, &number) < 0)
		return false;
	*ret_value = (int)number;
	return true;
}

/* Reads "*", "5", "1-5", "*" or a range with "/2". The text is changed. */
static bool part_read(const struct field *field, char *text, uint64_t *bits)
{
	char *step_text = strchr(text, '/'), *last_text;
	int first = field->first, last = field->last;
	long long step = 1;
	bool range = true;

	if (step_text) {
		*step_text++ = '\0';
		if (step_text[strspn(step_text, "0123456789")] || text_number(step_text, 1, field->last, &step) < 0)
			return false;
	}
	if (!text_equal(text, "*")) {
		last_text = strchr(text, '-');
		range = last_text;
		if (last_text)
			*last_text++ = '\0';
		if (!value_read(field, text, &first) || !value_read(field, last_text ? last_text : text, &last))
			return false;
	}
	if (last < first || (step_text && !range))
		return false;
	for (int i = first; i <= last; i += (int)step)
		*bits |= UINT64_C(1) << i;
	return true;
}

static int field_read(const struct field *field, char *text, uint64_t *ret_bits, struct err *err)
{
	_cleanup_(freep) char *whole = mem_text(text);
	char *part;

	*ret_bits = 0;
	while ((part = strsep(&text, ",")))
		if (!part_read(field, part, ret_bits))
			return field_wrong(field, whole, err);
	return 0;
}

static int fields_split(char *text, char *ret_fields[FIELDS], struct err *err)
{
	size_t count = 0;
	char *field;

	while ((field = strsep(&text, " \t"))) {
		if (!*field)
			continue;
		if (count < FIELDS)
			ret_fields[count] = field;
		count++;
	}
	if (count != FIELDS)
		return err_set(err, ERR_INVALID,
			"Cron must have five fields: minute, hour, day of the month, month, day of the week");
	return 0;
}

/* ---- days ---- */

int cron_days_of_month(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[(unsigned)(month - 1) % 12] + (month == 2 && leap);
}

/* 0 is Sunday. */
static int weekday_of(int year, int month, int day)
{
	static const int shifts[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
	int y = year - (month < 3);

	return (y + y / 4 - y / 100 + y / 400 + shifts[(unsigned)(month - 1) % 12] + day) % 7;
}

static bool bit(uint64_t bits, int i)
{
	return bits >> i & 1;
}

static bool day_matches(const struct cron *cron, const struct cron_time *t)
{
	bool day = bit(cron->days, t->day), weekday = bit(cron->weekdays, weekday_of(t->year, t->month, t->day));

	return cron->any_day || cron->any_weekday ? day && weekday : day || weekday;
}

/* Whether some month has one of the days. Days of the week are in each month. */
static bool has_day(const struct cron *cron)
{
	if (!cron->any_day && !cron->any_weekday)
		return true;
	for (int month = 1; month <= 12; month++)
		for (int day = 1; bit(cron->months, month) && day <= cron_days_of_month(LEAP_YEAR, month); day++)
			if (bit(cron->days, day))
				return true;
	return false;
}

int cron_parse(const char *text, struct cron *ret_cron, struct err *err)
{
	_cleanup_(freep) char *copy = mem_text(text);
	char *parts[FIELDS] = {NULL};
	uint64_t bits[FIELDS];
	struct cron cron;

	if (strlen(text) > MAX_TEXT)
		return err_set(err, ERR_INVALID, "Cron is too long (maximum is %d characters)", MAX_TEXT);
	if (fields_split(copy, parts, err) < 0)
		return -1;
	cron.any_day = *parts[DAY] == '*';
	cron.any_weekday = *parts[WEEKDAY] == '*';
	for (int i = 0; i < FIELDS; i++)
		if (field_read(&fields[i], parts[i], &bits[i], err) < 0)
			return -1;
	cron.minutes = bits[MINUTE];
	cron.hours = bits[HOUR];
	cron.days = bits[DAY];
	cron.months = bits[MONTH];
	cron.weekdays = bits[WEEKDAY] | bits[WEEKDAY] >> 7; /* 7 is Sunday, too */
	if (__builtin_popcountll(cron.minutes) > CRON_MAX_PER_HOUR)
		return err_set(err, ERR_INVALID, "Cron can't name more than %d minutes of an hour", CRON_MAX_PER_HOUR);
	if (!has_day(&cron))
		return err_set(err, ERR_INVALID, "Cron names a day that no month has");
	*ret_cron = cron;
	return 0;
}

/* ---- the next time ---- */

static void day_step(struct cron_time *t)
{
	t->hour = t->minute = 0;
	if (++t->day <= cron_days_of_month(t->year, t->month))
		return;
	t->day = 1;
	if (++t->month <= 12)
		return;
	t->month = 1;
	t->year++;
}

/* The first matching time of the day, from its hour and minute on. */
static bool next_of_day(const struct cron *cron, struct cron_time *t)
{
	for (; t->hour < 24; t->hour++, t->minute = 0)
		for (; bit(cron->hours, t->hour) && t->minute < 60; t->minute++)
			if (bit(cron->minutes, t->minute))
				return true;
	return false;
}

struct cron_time cron_next(const struct cron *cron, const struct cron_time *after)
{
	struct cron_time t = *after;

	t.minute++;
	/* cron_parse refuses expressions without a day, so the loop ends before its limit. */
	while (t.year <= after->year + MAX_YEARS) {
		if (bit(cron->months, t.month) && day_matches(cron, &t) && next_of_day(cron, &t))
			break;
		day_step(&t);
	}
	return t;
}

/* ---- text ---- */

void cron_time_write(const struct cron_time *time, char ret_text[CRON_TIME_SIZE])
{
	snprintf(ret_text, CRON_TIME_SIZE, "%04d-%02d-%02d %02d:%02d", time->year % 10000, time->month % 100,
		time->day % 100, time->hour % 100, time->minute % 100);
}

/* The number of these digits; -1 if one is none. */
static int digits_read(const char *digits, size_t count)
{
	int number = 0;

	for (size_t i = 0; i < count; i++) {
		if (digits[i] < '0' || digits[i] > '9')
			return -1;
		number = 10 * number + digits[i] - '0';
	}
	return number;
}

bool cron_time_read(const char *text, struct cron_time *ret_time)
{
	struct cron_time t;

	if (strlen(text) != strlen("2000-01-01 00:00") || text[4] != '-' || text[7] != '-' || text[10] != ' ' ||
		text[13] != ':')
		return false;
	t = (struct cron_time){.year = digits_read(text, 4),
		.month = digits_read(text + 5, 2),
		.day = digits_read(text + 8, 2),
		.hour = digits_read(text + 11, 2),
		.minute = digits_read(text + 14, 2)};
	if (t.year < 0 || t.month < 1 || t.month > 12 || t.day < 1 || t.day > cron_days_of_month(t.year, t.month) ||
		t.hour < 0 || t.hour > 23 || t.minute < 0 || t.minute > 59)
		return false;
	*ret_time = t;
	return true;
}
