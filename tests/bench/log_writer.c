/* SPDX-License-Identifier: MPL-2.0 */
/*
 * An engine whose plan writes lines, for tests/bench/logs: lines in the format of terraform -json, one write each.
 * The configuration's file `lines` gives the rate and the duration ("RATE SECONDS START", START in seconds since
 * 1970). Each line has its number and the time at which it was written. All other commands run the no-op engine
 * (engine.c, at ENGINE).
 */

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef ENGINE
#define ENGINE "engine"
#endif

enum { TICK_MS = 10 }; /* lines come in small bursts, as from an engine that waits for many answers at a time */

static long long now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static void sleep_until(long long at_us)
{
	const struct timespec at = {.tv_sec = at_us / 1000000, .tv_nsec = at_us % 1000000 * 1000};

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &at, NULL) != 0)
		;
}

static int write_line(long number)
{
	char line[512];
	int len = snprintf(line, sizeof(line),
		"{\"@level\":\"info\",\"@message\":\"terraform_data.each[%ld]: Refreshing state... "
		"[id=5f1c2c9e-7d5a-4a3c-9b61-%012ld]\","
		"\"@module\":\"terraform.ui\",\"us\":%lld,\"hook\":{\"resource\":{\"addr\":\"terraform_data.each[%ld]"
		"\",\"resource_type\":"
		"\"terraform_data\"},\"id_key\":\"id\"},\"n\":%ld,\"type\":\"refresh_start\"}\n",
		number, number, now_us(), number, number);

	return write(1, line, (size_t)len) == len ? 0 : 1;
}

/* A tick that is late, since a write blocked, is made up for. */
static int write_lines(void)
{
	FILE *file = fopen("lines", "r");
	long rate, seconds, line_number = 0;
	long long start;
	int read = file ? fscanf(file, "%ld %ld %lld", &rate, &seconds, &start) : 0;

	if (file)
		fclose(file);
	if (read != 3)
		return 1;
	for (long tick = 1; tick <= seconds * 1000 / TICK_MS; tick++) {
		sleep_until(start * 1000000 + tick * TICK_MS * 1000 + getpid() % TICK_MS * 1000);
		for (; line_number < rate * tick * TICK_MS / 1000; line_number++)
			if (write_line(line_number))
				return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "plan") == 0 && write_lines())
		return 1;
	execv(ENGINE, argv);
	return 1;
}
