/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/xml/instant.h"

#include <string.h>
#include <time.h>

int instant_parse(const char *text, long long *ret_seconds)
{
	struct tm tm = {.tm_year = 0};
	const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	struct tm checked;
	time_t seconds;

	if (!end || strspn(text, "0123456789") != 4)
		return -1;
	if (*end == '.') {
		size_t digits = strspn(end + 1, "0123456789");

		if (!digits)
			return -1;
		end += 1 + digits;
	}
	if (!text_equal(end, "Z"))
		return -1;
	checked = tm;
	seconds = timegm(&checked);
	/* A day that the month does not have would become one of the next month. */
	if (checked.tm_mday != tm.tm_mday)
		return -1;
	*ret_seconds = seconds;
	return 0;
}

void instant_text(long long seconds, char ret_text[INSTANT_SIZE])
{
	time_t time = seconds;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(ret_text, INSTANT_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
