/* SPDX-License-Identifier: MPL-2.0 */
#include "common/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t clock_read_us(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int64_t clock_mono_ms(void)
{
	return clock_read_us(CLOCK_MONOTONIC) / 1000;
}

int64_t clock_mono_us(void)
{
	return clock_read_us(CLOCK_MONOTONIC);
}

int64_t clock_boot_ms(void)
{
	return clock_read_us(CLOCK_BOOTTIME) / 1000;
}

int64_t clock_wall_us(void)
{
	return clock_read_us(CLOCK_REALTIME);
}

char *clock_text(int64_t wall_us, char text[CLOCK_TEXT_SIZE])
{
	time_t seconds = (time_t)(wall_us / 1000000);
	struct tm parts;
	size_t len;

	gmtime_r(&seconds, &parts);
	len = strftime(text, CLOCK_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	snprintf(text + len, CLOCK_TEXT_SIZE - len, ".%03dZ", (int)(wall_us / 1000 % 1000));
	return text;
}
