/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/auto_destroy.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const char at_name[] = "auto-destroy-at";
static const char duration_name[] = "auto-destroy-activity-duration";
static const char inherits_name[] = "inherits-project-auto-destroy";

int duration_check(const char *duration, struct err *err)
{
	const char *text = text_or_empty(duration);
	size_t digits = strspn(text, "0123456789");

	if (!duration ||
		(digits >= 1 && digits <= 4 && (text[digits] == 'd' || text[digits] == 'h') && !text[digits + 1]))
		return 0;
	return err_at(err, "/data/attributes/auto-destroy-activity-duration",
		"Auto destroy activity duration has an incorrect format, we expect up to 4 numeric digits and 1 unit "
		"('d' or 'h')");
}

/* The offset of a time such as "+02:00" or "Z", in seconds. False if the text is neither. */
static bool offset_read(const char *text, long *ret_seconds)
{
	_cleanup_(freep) char *hours = mem_printf("%.2s", *text ? text + 1 : "");
	long long hour, minute;

	*ret_seconds = 0;
	if (text_equal(text, "Z"))
		return true;
	if ((*text != '+' && *text != '-') || strlen(text) != 6 || text[3] != ':' ||
		text_number(hours, 0, 23, &hour) < 0 || text_number(text + 4, 0, 59, &minute) < 0)
		return false;
	*ret_seconds = (*text == '-' ? -1L : 1L) * (long)(hour * 3600 + minute * 60);
	return true;
}

/* Reads an RFC 3339 time. ret_text is the time in UTC, without its fraction. */
static bool time_read(const char *text, char ret_text[32])
{
	struct tm tm = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
	long offset;
	time_t at;

	if (rest && *rest == '.' && rest[1 + strspn(rest + 1, "0123456789")])
		rest += 1 + strspn(rest + 1, "0123456789");
	if (!rest || strlen(text) > 40 || !offset_read(rest, &offset))
		return false;
	at = timegm(&tm) - offset;
	return gmtime_r(&at, &tm) && tm.tm_year >= 0 && tm.tm_year < 8000 &&
		strftime(ret_text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm) > 0;
}

static int time_check(json_t *settings, const char *at, struct err *err)
{
	char text[32];

	if (!time_read(at, text))
		return err_at(err, "/data/attributes/auto-destroy-at", "Auto destroy at must be a time (RFC 3339)");
	json_object_set_new(settings, at_name, json_string(text));
	return 0;
}

int auto_destroy_read(json_t *settings, struct err *err)
{
	const char *at = json_string_at(settings, at_name), *duration = json_string_at(settings, duration_name);

	if (at && duration)
		return err_at(err, "/data/attributes/auto-destroy-activity-duration",
			"Auto destroy activity duration can't be combined with auto-destroy-at");
	if (duration_check(duration, err) < 0 || (at && time_check(settings, at, err) < 0))
		return -1;
	if ((at || duration) && !json_object_get(settings, inherits_name))
		json_object_set_new(settings, inherits_name, json_false());
	if (duration)
		json_object_set_new(settings, at_name, json_null());
	if (at)
		json_object_set_new(settings, duration_name, json_null());
	return 0;
}

void auto_destroy_show(const struct workspace_view_row *workspace, json_t *attributes)
{
	if (json_is_string(json_object_get(attributes, at_name)))
		return;
	json_object_set_new(attributes, duration_name, json_string_or_null(workspace->destroy_after));
	json_object_set_new(attributes, at_name, time_shown(workspace->destroy_at));
}
