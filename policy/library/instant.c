/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/library/instant.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "common/base.h"

#define FIRST_SECOND INT64_C(-62167219200) /* 0000-01-01 */
#define LAST_SECOND  INT64_C(253402300799) /* 9999-12-31T23:59:59 */
#define SECOND       INT64_C(1000000000)
#define ZONES        "/usr/share/zoneinfo"

bool instant_of(int64_t seconds, int32_t nanoseconds, struct instant *ret_instant)
{
	if (seconds < FIRST_SECOND || seconds > LAST_SECOND)
		return false;
	*ret_instant = (struct instant){.seconds = seconds, .nanoseconds = nanoseconds};
	return true;
}

/* ---- RFC 3339 ---- */

struct cursor {
	const char *at, *end;
};

static bool take(struct cursor *cursor, char byte)
{
	if (cursor->at == cursor->end || *cursor->at != byte)
		return false;
	cursor->at++;
	return true;
}

static bool take_number(struct cursor *cursor, int digits, int low, int high, int *ret_number)
{
	int number = 0;

	if (cursor->end - cursor->at < digits)
		return false;
	for (int i = 0; i < digits; i++) {
		char byte = *cursor->at++;

		if (byte < '0' || byte > '9')
			return false;
		number = 10 * number + (byte - '0');
	}
	*ret_number = number;
	return number >= low && number <= high;
}

static int month_days(int year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

	return days[month - 1] + (month == 2 && leap);
}

static bool take_date(struct cursor *cursor, struct instant_parts *parts)
{
	return take_number(cursor, 4, 0, 9999, &parts->year) && take(cursor, '-') &&
		take_number(cursor, 2, 1, 12, &parts->month) && take(cursor, '-') &&
		take_number(cursor, 2, 1, month_days(parts->year, parts->month), &parts->day);
}

static bool take_time(struct cursor *cursor, struct instant_parts *parts)
{
	return take_number(cursor, 2, 0, 23, &parts->hour) && take(cursor, ':') &&
		take_number(cursor, 2, 0, 59, &parts->minute) && take(cursor, ':') &&
		take_number(cursor, 2, 0, 59, &parts->second);
}

static bool take_fraction(struct cursor *cursor, int32_t *ret_nanoseconds)
{
	int32_t unit = SECOND / 10, nanoseconds = 0;
	const char *begin;

	if (!take(cursor, '.'))
		return true;
	for (begin = cursor->at; cursor->at < cursor->end && *cursor->at >= '0' && *cursor->at <= '9'; cursor->at++) {
		nanoseconds += (*cursor->at - '0') * unit;
		unit /= 10;
	}
	*ret_nanoseconds = nanoseconds;
	return cursor->at > begin;
}

static bool take_offset(struct cursor *cursor, int32_t *ret_offset)
{
	int hours, minutes, sign = 1;

	*ret_offset = 0;
	if (take(cursor, 'Z'))
		return true;
	if (take(cursor, '-'))
		sign = -1;
	else if (!take(cursor, '+'))
		return false;
	if (!take_number(cursor, 2, 0, 23, &hours) || !take(cursor, ':') || !take_number(cursor, 2, 0, 59, &minutes))
		return false;
	*ret_offset = sign * (hours * 3600 + minutes * 60);
	return true;
}

static int64_t unix_seconds(const struct instant_parts *parts)
{
	struct tm tm = {
		.tm_year = parts->year - 1900,
		.tm_mon = parts->month - 1,
		.tm_mday = parts->day,
		.tm_hour = parts->hour,
		.tm_min = parts->minute,
		.tm_sec = parts->second,
	};

	return timegm(&tm);
}

void instant_zone(const struct instant *instant, char text[INSTANT_ZONE_SIZE])
{
	int minutes = abs(instant->offset) / 60;

	snprintf(text, INSTANT_ZONE_SIZE, "%c%02d:%02d", instant->offset < 0 ? '-' : '+', minutes / 60 % 100,
		minutes % 60);
}

bool instant_parse(const char *text, size_t len, struct instant *ret_instant)
{
	struct cursor cursor = {text, text + len};
	struct instant_parts parts;
	struct instant instant;
	int32_t nanoseconds = 0, offset;

	if (!take_date(&cursor, &parts) || !take(&cursor, 'T') || !take_time(&cursor, &parts) ||
		!take_fraction(&cursor, &nanoseconds) || !take_offset(&cursor, &offset) || cursor.at != cursor.end)
		return false;
	if (!instant_of(unix_seconds(&parts) - offset, nanoseconds, &instant))
		return false;
	instant.offset = offset;
	*ret_instant = instant;
	return true;
}

/* ---- zones ---- */

static pthread_mutex_t zone_mutex = PTHREAD_MUTEX_INITIALIZER;

/* The C library takes any name that it does not know for UTC. */
static bool zone_exists(const char *zone)
{
	char path[128];
	int len = snprintf(path, sizeof(path), "%s/%s", ZONES, zone);
	struct stat info;

	if (strcmp(zone, "UTC") == 0)
		return true;
	return !strstr(zone, "..") && len < (int)sizeof(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

/* False if there is no memory: the C library then takes the zone for UTC, and only errno tells. */
static bool set_zone(const char *zone)
{
	errno = 0;
	if ((zone ? setenv("TZ", zone, 1) : unsetenv("TZ")) < 0)
		return false;
	tzset();
	return errno != ENOMEM;
}

static bool local_time(const char *zone, time_t seconds, struct instant *instant)
{
	_cleanup_(freep) char *before = mem_text(getenv("TZ"));
	struct tm tm;
	const bool known = set_zone(zone) && localtime_r(&seconds, &tm);

	if (known)
		instant->offset = (int32_t)tm.tm_gmtoff;
	set_zone(before);
	return known;
}

bool instant_in_zone(struct instant *instant, const char *zone)
{
	bool known;

	if (!zone_exists(zone))
		return false;
	pthread_mutex_lock(&zone_mutex);
	known = local_time(zone, (time_t)instant->seconds, instant);
	pthread_mutex_unlock(&zone_mutex);
	return known;
}

/* ---- parts ---- */

struct instant_parts instant_parts(const struct instant *instant)
{
	time_t local = (time_t)(instant->seconds + instant->offset);
	struct tm tm = {0};

	gmtime_r(&local, &tm);
	return (struct instant_parts){
		.year = tm.tm_year + 1900,
		.month = tm.tm_mon + 1,
		.day = tm.tm_mday,
		.hour = tm.tm_hour,
		.minute = tm.tm_min,
		.second = tm.tm_sec,
		.weekday = tm.tm_wday,
	};
}

const char *instant_month_name(int month)
{
	static const char *const names[] = {"January", "February", "March", "April", "May", "June", "July", "August",
		"September", "October", "November", "December"};

	return names[month - 1];
}

const char *instant_weekday_name(int weekday)
{
	static const char *const names[] = {
		"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

	return names[weekday];
}

/* ---- arithmetic ---- */

int instant_compare(const struct instant *a, const struct instant *b)
{
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->nanoseconds > b->nanoseconds) - (a->nanoseconds < b->nanoseconds);
}

bool instant_add(const struct instant *instant, int64_t nanoseconds, struct instant *ret_instant)
{
	int64_t seconds = instant->seconds + nanoseconds / SECOND;
	int64_t rest = instant->nanoseconds + nanoseconds % SECOND;
	struct instant sum = *instant;

	if (rest < 0) {
		rest += SECOND;
		seconds--;
	} else if (rest >= SECOND) {
		rest -= SECOND;
		seconds++;
	}
	if (seconds < FIRST_SECOND || seconds > LAST_SECOND)
		return false;
	sum.seconds = seconds;
	sum.nanoseconds = (int32_t)rest;
	*ret_instant = sum;
	return true;
}

static int64_t saturated(int64_t seconds, int64_t nanoseconds)
{
	int64_t product, sum;

	if (__builtin_mul_overflow(seconds, SECOND, &product) || __builtin_add_overflow(product, nanoseconds, &sum))
		return seconds < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

int64_t instant_sub(const struct instant *a, const struct instant *b)
{
	return saturated(a->seconds - b->seconds, (int64_t)a->nanoseconds - b->nanoseconds);
}

int64_t instant_unix_nano(const struct instant *instant)
{
	return saturated(instant->seconds, instant->nanoseconds);
}
