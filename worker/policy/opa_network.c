/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/opa_network.h"

#include <string.h>

#include "common/err.h"
#include "common/json/json.h"
#include "worker/policy/mentions.h"

static bool calls_network(const struct buf *text)
{
	return (has_word(text, "http") && has_word(text, "send")) || has_word(text, "lookup_ip_addr");
}

bool opa_wants_network(int root, const char *folder)
{
	return folder_mentions(root, folder, ".rego", calls_network);
}

static bool needs_network(const char *builtin)
{
	return text_equal(builtin, "http.send") || text_equal(builtin, "net.lookup_ip_addr");
}

char *opa_capabilities_offline(const char *said, struct err *err)
{
	json_auto_t *all = NULL, *kept = json_array();
	json_t *builtin;
	size_t i;

	if (json_parse(said, strlen(said), &all, err) < 0) {
		err_context(err, "opa's list of its functions can't be read");
		return NULL;
	}
	json_array_foreach(json_object_get(all, "builtins"), i, builtin)
	{
		if (!needs_network(text_or_empty(json_string_at(builtin, "name"))))
			json_array_append(kept, builtin);
	}
	json_object_set(all, "builtins", kept);
	return json_text(all);
}
