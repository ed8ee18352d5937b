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

static bool is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static bool take(struct cursor *cursor, char byte)
{
	if (cursor->at == cursor->end || *cursor->at != byte)
		return false;
	cursor->at++;
	return true;
}

/* Takes a text like the shape, in which 0 is any digit. */
static bool take_shape(struct cursor *cursor, const char *shape)
{
	for (; *shape; shape++, cursor->at++)
		if (cursor->at == cursor->end || (*shape == '0' ? !is_digit(*cursor->at) : *cursor->at != *shape))
			return false;
	return true;
}

/* The number of those digits. */
static int number_at(const char *text, int digits)
{
	int number = 0;

	for (int i = 0; i < digits; i++)
		number = 10 * number + (text[i] - '0');
	return number;
}

static bool take_date_and_time(struct cursor *cursor, int64_t *ret_seconds)
{
	const char *text = cursor->at;
	struct tm tm, normal;

	if (!take_shape(cursor, "0000-00-00T00:00:00"))
		return false;
	tm = (struct tm){
		.tm_year = number_at(text, 4) - 1900,
		.tm_mon = number_at(text + 5, 2) - 1,
		.tm_mday = number_at(text + 8, 2),
		.tm_hour = number_at(text + 11, 2),
		.tm_min = number_at(text + 14, 2),
		.tm_sec = number_at(text + 17, 2),
	};
	normal = tm;
	*ret_seconds = timegm(&normal);
	/* The 30th of February became a day of March. */
	return normal.tm_mon == tm.tm_mon && normal.tm_mday == tm.tm_mday && normal.tm_hour == tm.tm_hour &&
		normal.tm_min == tm.tm_min && normal.tm_sec == tm.tm_sec;
}

static bool take_fraction(struct cursor *cursor, int32_t *ret_nanoseconds)
{
	int32_t unit = SECOND / 10, nanoseconds = 0;
	const char *begin;

	if (!take(cursor, '.'))
		return true;
	for (begin = cursor->at; cursor->at < cursor->end && is_digit(*cursor->at); cursor->at++) {
		nanoseconds += (*cursor->at - '0') * unit;
		unit /= 10;
	}
	*ret_nanoseconds = nanoseconds;
	return cursor->at > begin;
}

static bool take_offset(struct cursor *cursor, int32_t *ret_offset)
{
	const char *text = cursor->at;
	int hours, minutes;

	*ret_offset = 0;
	if (take(cursor, 'Z'))
		return true;
	if (!take_shape(cursor, text < cursor->end && *text == '-' ? "-00:00" : "+00:00"))
		return false;
	hours = number_at(text + 1, 2);
	minutes = number_at(text + 4, 2);
	*ret_offset = (*text == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
	return hours < 24 && minutes < 60;
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
	struct instant instant;
	int32_t nanoseconds = 0, offset;
	int64_t seconds;

	if (!take_date_and_time(&cursor, &seconds) || !take_fraction(&cursor, &nanoseconds) ||
		!take_offset(&cursor, &offset) || cursor.at != cursor.end)
		return false;
	if (!instant_of(seconds - offset, nanoseconds, &instant))
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

struct tm instant_local(const struct instant *instant)
{
	time_t local = (time_t)(instant->seconds + instant->offset);
	struct tm tm = {0};

	gmtime_r(&local, &tm);
	return tm;
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
	struct instant sum;

	if (rest < 0) {
		rest += SECOND;
		seconds--;
	} else if (rest >= SECOND) {
		rest -= SECOND;
		seconds++;
	}
	if (!instant_of(seconds, (int32_t)rest, &sum))
		return false;
	sum.offset = instant->offset;
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
