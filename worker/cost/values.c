/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/values.h"

#include <ctype.h>
#include <string.h>

static const json_t *member(const json_t *tree, const char *name)
{
	long long index;

	if (json_is_object(tree))
		return json_object_get(tree, name);
	if (!isdigit((unsigned char)*name) || text_number(name, 0, INT32_MAX, &index) < 0)
		return NULL;
	return json_array_get(tree, (size_t)index);
}

const json_t *tree_at(const json_t *tree, const char *path)
{
	while (tree && *path && !json_is_true(tree)) {
		size_t len = strcspn(path, ".");
		char name[128];

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		tree = member(tree, name);
		path += len + (path[len] == '.');
	}
	return tree;
}

static const char *as_text(const json_t *value)
{
	if (json_is_boolean(value))
		return json_is_true(value) ? "true" : "false";
	return json_string_value(value);
}

static struct value look(const json_t *planned, const json_t *unknown, const json_t *sensitive, const char *path)
{
	const char *text = as_text(tree_at(planned, path));

	if (json_is_true(tree_at(unknown, path)))
		return (struct value){.state = VALUE_UNKNOWN};
	if (!text || !*text)
		return (struct value){.state = VALUE_NONE};
	return (struct value){.text = text, .sensitive = json_is_true(tree_at(sensitive, path))};
}

/* The prefix of a path selects the tree; most paths have none. */
struct value value_at(const struct values *values, const char *path)
{
	const struct {
		const char *prefix;
		const json_t *planned, *unknown, *sensitive;
	} places[] = {
		{"each.", values->each, values->each_unknown, values->each_sensitive},
		{"provider.", values->provider, NULL, NULL},
		{"env.", values->env, NULL, NULL},
		{"", values->planned, values->unknown, values->sensitive},
	};
	size_t i = 0;

	while (!text_starts(path, places[i].prefix))
		i++;
	return look(places[i].planned, places[i].unknown, places[i].sensitive, path + strlen(places[i].prefix));
}
