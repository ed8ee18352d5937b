/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/form.h"

#include <string.h>

#include "common/base.h"
#include "common/err.h"

enum { MAX_FIELDS = 64 };

static void decode(char *text)
{
	for (char *at = text; *at; at++)
		if (*at == '+')
			*at = ' ';
	text_percent_decode(text);
}

static bool field_add(json_t *form, char *field)
{
	char *value = strchr(field, '=');
	json_t *text;

	if (strcasestr(field, "%00"))
		return false;
	if (value)
		*value++ = '\0';
	else
		value = field + strlen(field);
	decode(field);
	decode(value);
	text = json_string(value);
	return text && json_object_set_new(form, field, text) == 0;
}

int form_parse(const char *bytes, size_t len, json_t **ret_form, struct err *err)
{
	_cleanup_(freep) char *copy = strndup(bytes, len);
	json_t *form = json_object();
	char *rest = copy, *field;
	int count = 0;

	while ((field = strsep(&rest, "&")))
		if (*field && (++count > MAX_FIELDS || !field_add(form, field))) {
			json_decref(form);
			return err_set(err, ERR_MALFORMED, "the body is no form");
		}
	*ret_form = form;
	return 0;
}
