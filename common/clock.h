/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_CLOCK_H
#define COMMON_CLOCK_H

#include <stdint.h>

/* Milliseconds of a monotonic clock, for durations and timers. */
int64_t clock_mono_ms(void);
/* The same in microseconds. */
int64_t clock_mono_us(void);
/* The same, but including the time that the machine is suspended: for times that other machines measure too, such as
 * leases. */
int64_t clock_boot_ms(void);
/* Microseconds since 1970, UTC, for users and for the database. */
int64_t clock_wall_us(void);

#define CLOCK_TEXT_SIZE 32
/* Formats as "2026-11-21T01:25:00.123Z" (the API's `tz` form). Returns `text`. */
char *clock_text(int64_t wall_us, char text[CLOCK_TEXT_SIZE]);

#endif
