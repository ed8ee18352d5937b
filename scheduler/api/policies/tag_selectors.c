/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/policies/tag_selectors.h"

#include "scheduler/api/workspaces/tags.h"

/* Selectors of tags of a policy set. */

enum { MAX_KEY = 128, MAX_VALUE = 256, MAX_LIST = 1000 };

/* Adds one selector by its tag: of several for one tag, the last one counts. */
static int selector_parse(const json_t *item, const char *pointer, json_t *by_tag, struct err *err)
{
	const json_t *value = json_object_get(item, "tag-value"), *exclude = json_object_get(item, "is-exclude");
	const char *key = json_string_at(item, "tag-key");
	const char *text = text_or_empty(json_string_value(value));
	_cleanup_(freep) char *tag = NULL;

	if (!key || !*key)
		return err_at(err, pointer, "Each selector must have a tag-key");
	if ((value && !json_is_null(value) && !json_is_string(value)) ||
		(exclude && !json_is_null(exclude) && !json_is_boolean(exclude)))
		return err_at(err, pointer, "tag-value must be a string or null, and is-exclude true or false");
	if (tag_text_check(key, MAX_KEY, "tag-key", pointer, err) < 0 ||
		tag_text_check(text, MAX_VALUE, "tag-value", pointer, err) < 0)
		return -1;
	tag = mem_printf("%s\n%s", key, text);
	json_object_set_new(by_tag, tag,
		json_pack("{ss so sb}", "tag-key", key, "tag-value", json_string_or_null(text_or_null(text)),
			"is-exclude", json_is_true(exclude)));
	return 0;
}

int tag_selectors_parse(const json_t *list, const char *pointer, json_t **ret_selectors, struct err *err)
{
	json_auto_t *by_tag = json_object();
	const json_t *item;
	const char *tag;
	json_t *selector;
	size_t i;

	if (!json_is_array(list) || json_array_size(list) > MAX_LIST)
		return err_at(err, pointer, "Tag selectors must be an array of at most %d", MAX_LIST);
	json_array_foreach(list, i, item)
	{
		if (selector_parse(item, pointer, by_tag, err) < 0)
			return -1;
	}
	*ret_selectors = json_array();
	json_object_foreach(by_tag, tag, selector) json_array_append(*ret_selectors, selector);
	return 0;
}

int body_tag_selectors(const struct request *req, json_t **ret_selectors, struct err *err)
{
	const json_t *list = json_object_get(json_at(req->body, "data.attributes"), "tag-selectors");

	if (!list || json_is_null(list))
		return 0;
	return tag_selectors_parse(list, "/data/attributes/tag-selectors", ret_selectors, err);
}
