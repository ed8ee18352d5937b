/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_LIBRARY_INSTANT_H
#define POLICY_LIBRARY_INSTANT_H

/* Moments between the years 0 and 9999, each with the offset from UTC at which its date and time of day are read. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { INSTANT_ZONE_SIZE = 16 };

struct instant {
	int64_t seconds;     /* since 1970, UTC */
	int32_t nanoseconds; /* 0 to 999,999,999 */
	int32_t offset;      /* of local time, in seconds east of UTC */
};

/* In UTC. False if it is out of range. */
bool instant_of(int64_t seconds, int32_t nanoseconds, struct instant *ret_instant);
/* RFC 3339: "2006-01-02T15:04:05.999Z", "2006-01-02T15:04:05+07:00". Digits below a nanosecond are dropped; second 60
 * is refused. False if it is none. */
bool instant_parse(const char *text, size_t len, struct instant *ret_instant);
/* Reads the instant in a zone of the system's time zone database ("Europe/Berlin"). False if there is none of that
 * name, or no memory to read it. Changes TZ for a moment. Other threads may read the environment meanwhile if TZ was
 * in it before: only its value is replaced then. */
bool instant_in_zone(struct instant *instant, const char *zone);

/* Its date and time of day. */
struct tm instant_local(const struct instant *instant);
/* The offset as text: "+05:30", and "+00:00" for UTC. */
void instant_zone(const struct instant *instant, char text[INSTANT_ZONE_SIZE]);

/* -1, 0, 1 */
int instant_compare(const struct instant *a, const struct instant *b);
/* Keeps the offset. False if the result is out of range. */
bool instant_add(const struct instant *instant, int64_t nanoseconds, struct instant *ret_instant);
/* a - b in nanoseconds; the nearest number there is if that is too large. */
int64_t instant_sub(const struct instant *a, const struct instant *b);
/* Since 1970; the nearest number there is if that is too large. */
int64_t instant_unix_nano(const struct instant *instant);

#endif
