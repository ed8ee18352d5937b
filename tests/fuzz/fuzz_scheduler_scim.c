/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Requests of identity providers. The first byte selects: a filter, a path, or a patch of a user's document. A filter's
 * alternatives must be within their bounds, and a patched document must be read as the same document again.
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/scim/document.h"
#include "scheduler/scim/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void filter_read(const char *text)
{
	struct scim_filter *filter = mem_new(1, sizeof(*filter));
	struct scim_alternatives *alternatives = mem_new(1, sizeof(*alternatives));
	json_auto_t *element = json_pack("{ss ss sb}", "value", "a", "type", "work", "primary", 1);
	struct err err = ERR_INIT;

	if (scim_filter_parse(text, filter, &err) == 0) {
		scim_filter_matches(filter, element);
		if (scim_filter_alternatives(filter, alternatives, &err) == 0) {
			must(alternatives->count && alternatives->alternatives);
			for (size_t i = 0; i < alternatives->count; i++)
				must(alternatives->conditions[i].alternative < alternatives->alternatives);
		}
	} else {
		must(strcmp(err.title, "invalidFilter") == 0);
	}
	scim_filter_release(filter);
	free(filter);
	free(alternatives);
}

static void path_read(const char *text)
{
	struct scim_path *path = mem_new(1, sizeof(*path));
	struct err err = ERR_INIT;

	must(scim_path_parse(text, path, &err) == 0 || strcmp(err.title, "invalidPath") == 0);
	scim_filter_release(&path->filter);
	free(path);
}

static void document_read(const char *text, size_t len)
{
	json_auto_t *body = json_loadb(text, len, 0, NULL), *document = NULL, *again = NULL;
	const json_t *operations = NULL;
	struct err err = ERR_INIT;

	if (!json_is_object(body) || scim_document_read(body, &document, &err) < 0)
		return;
	if (scim_operations_read(body, &operations, &err) == 0)
		scim_document_patch(document, operations, &err);
	err = (struct err)ERR_INIT;
	if (json_is_null(json_object_get(document, "name")))
		json_object_del(document, "name");
	must(scim_document_read(document, &again, &err) == 0 && json_equal(document, again));
	scim_select(&(struct scim_selection){.attributes = "emails.value,name"}, document);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	_cleanup_(freep) char *text = mem_new(len + 1, 1);

	if (!len)
		return 0;
	memcpy(text, bytes + 1, len - 1);
	if (bytes[0] % 3 == 0)
		filter_read(text);
	else if (bytes[0] % 3 == 1)
		path_read(text);
	else
		document_read(text, len - 1);
	return 0;
}
