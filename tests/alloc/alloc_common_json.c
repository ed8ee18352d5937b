/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/err.h"
#include "common/json/json.h"
#include "tests/alloc/alloc.h"

static const char text[] = "{\"list\":[1,2.5,\"three\",null,true],\"object\":{\"key\":\"value\"}}";

static void documents(void)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	HOLDS(json_parse(text, strlen(text), &value, &err) == 0);
	HOLDS(text_equal(json_string_at(value, "object.key"), "value"));
	_cleanup_(freep) char *written = json_text(value);
	HOLDS(text_equal(written, text));
}

const struct alloc_case alloc_cases[] = {
	{.name = "documents", .libraries = "libjansson", .run = documents, .none = true},
	{0},
};
