/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/site/timeouts.h"

#include <stdio.h>

enum { MAX_SECONDS = 8640000 };

static const struct timeout {
	const char *name, *old, *seconds;
} timeouts[] = {
	{"plan-timeout", "terraform-build-worker-plan-timeout", "plan-seconds"},
	{"apply-timeout", "terraform-build-worker-apply-timeout", "apply-seconds"},
};

/* The seconds of "2h", "1h30m" or "45s". -1 if the text is not such a duration, or is more than 100 days. */
static long long duration_seconds(const char *text)
{
	static const struct {
		char unit;
		long long seconds;
	} units[] = {{'h', 3600}, {'m', 60}, {'s', 1}};
	long long all = 0;
	size_t unit = 0;

	for (const char *at = text; *at; at++) {
		long long number = 0;

		if (*at < '0' || *at > '9')
			return -1;
		for (; *at >= '0' && *at <= '9'; at++)
			if ((number = number * 10 + (*at - '0')) > MAX_SECONDS)
				return -1;
		while (unit < ARRAY_LEN(units) && units[unit].unit != *at)
			unit++;
		if (unit == ARRAY_LEN(units))
			return -1;
		all += number * units[unit++].seconds;
	}
	return all >= 1 && all <= MAX_SECONDS ? all : -1;
}

static int timeout_read(const struct request *req, const struct timeout *timeout, json_t *set, struct err *err)
{
	const char *name = body_has(req, timeout->name) ? timeout->name : timeout->old, *text = NULL;
	long long seconds;
	char pointer[64];

	if (!body_has(req, name))
		return 0;
	if (body_text(req, name, &text, err) < 0)
		return -1;
	seconds = text && *text ? duration_seconds(text) : 0;
	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	if (seconds < 0)
		return err_at(err, pointer, "A timeout must be a duration such as 2h or 1h30m, of at most 2400h");
	json_object_set_new(set, timeout->name, seconds ? json_string(text) : json_null());
	json_object_set_new(set, timeout->seconds, json_integer(seconds));
	return 0;
}

int timeouts_read(const struct request *req, json_t *set, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(timeouts); i++)
		if (timeout_read(req, &timeouts[i], set, err) < 0)
			return -1;
	return 0;
}

void timeouts_show(const json_t *set, json_t *attributes)
{
	for (size_t i = 0; i < ARRAY_LEN(timeouts); i++) {
		json_t *text = json_object_get(set, timeouts[i].name);

		json_object_set_new(attributes, timeouts[i].name, text ? json_incref(text) : json_null());
		json_object_set_new(attributes, timeouts[i].old, text ? json_incref(text) : json_null());
	}
}
