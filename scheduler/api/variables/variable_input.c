/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/variables/variable_input.h"

#include <string.h>

enum { MAX_KEY = 128, MAX_DESCRIPTION = 512 };

static int key_check(const struct variable *variable, struct err *err)
{
	static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
	const char *key = text_or_empty(variable->key);

	if (!*key)
		return err_at(err, "/data/attributes/key", "Key can't be blank");
	if (strlen(key) > MAX_KEY)
		return err_at(err, "/data/attributes/key", "Key is too long (maximum is %d characters)", MAX_KEY);
	if (text_equal(variable->category, "terraform") && key[strspn(key, word)])
		return err_at(
			err, "/data/attributes/key", "Key may only contain letters, numbers, underscores and hyphens");
	for (const unsigned char *at = (const unsigned char *)key; *at; at++)
		if (*at <= ' ' || *at == 0x7f || *at == '=')
			return err_at(err, "/data/attributes/key",
				"Key may not contain spaces, control characters or equal signs");
	return 0;
}

static int variable_check(const struct variable *variable, struct err *err)
{
	if (!text_equal(variable->category, "terraform") && !text_equal(variable->category, "env"))
		return err_at(err, "/data/attributes/category", "Category must be terraform or env");
	if (strlen(text_or_empty(variable->value)) > VARIABLE_VALUE_MAX)
		return err_at(
			err, "/data/attributes/value", "Value is too long (maximum is %d bytes)", VARIABLE_VALUE_MAX);
	if (strlen(text_or_empty(variable->description)) > MAX_DESCRIPTION)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			MAX_DESCRIPTION);
	return key_check(variable, err);
}

int variable_input_read(const struct request *req, struct variable *variable, struct err *err)
{
	if (body_check(req, "vars", err) < 0 || body_text(req, "key", &variable->key, err) < 0 ||
		body_long_text(req, "value", &variable->value, err) < 0 ||
		body_text(req, "description", &variable->description, err) < 0 ||
		body_text(req, "category", &variable->category, err) < 0 ||
		body_bool(req, "hcl", &variable->hcl, err) < 0 ||
		body_bool(req, "sensitive", &variable->sensitive, err) < 0)
		return -1;
	return variable_check(variable, err);
}
