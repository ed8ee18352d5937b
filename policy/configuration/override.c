/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/configuration/override.h"

#include <string.h>

#include "common/base.h"

bool override_is(const char *path)
{
	static const char *const endings[] = {"override.hcl", "override.json"};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t ending = strlen(endings[i]);

		if (len >= ending && strcmp(name + len - ending, endings[i]) == 0)
			return len == ending || name[len - ending - 1] == '_';
	}
	return false;
}

static bool same_header(const struct hcl_block *a, const struct hcl_block *b)
{
	bool same = strcmp(a->type, b->type) == 0 && a->label_count == b->label_count;

	for (unsigned i = 0; same && i < a->label_count; i++)
		same = strcmp(a->labels[i], b->labels[i]) == 0;
	return same;
}

/* An attribute can be written as a block, so a name is dropped in both forms. */
static void drop(struct run *run, struct hcl_body *body, const char *name)
{
	struct hcl_attribute **attribute = &body->attributes;
	struct hcl_block **block = &body->blocks;

	run_step(run, 1);
	while (*attribute)
		if (strcmp((*attribute)->name, name) == 0)
			*attribute = (*attribute)->next;
		else
			attribute = &(*attribute)->next;
	while (*block)
		if (strcmp((*block)->type, name) == 0)
			*block = (*block)->next;
		else
			block = &(*block)->next;
}

static void add_attribute(struct run *run, struct hcl_body *body, const struct hcl_attribute *added)
{
	struct hcl_attribute *copy = run_alloc(run, 1, sizeof(*copy));

	*copy = *added;
	copy->next = body->attributes;
	body->attributes = copy;
}

static void add_block(struct run *run, struct hcl_body *body, const struct hcl_block *added)
{
	struct hcl_block *copy = run_alloc(run, 1, sizeof(*copy));

	*copy = *added;
	copy->next = body->blocks;
	body->blocks = copy;
}

static void merge(struct run *run, struct hcl_body *body, const struct hcl_body *by)
{
	for (const struct hcl_attribute *attribute = by->attributes; attribute; attribute = attribute->next)
		drop(run, body, attribute->name);
	for (const struct hcl_block *block = by->blocks; block; block = block->next)
		drop(run, body, block->type);
	for (const struct hcl_attribute *attribute = by->attributes; attribute; attribute = attribute->next)
		add_attribute(run, body, attribute);
	for (const struct hcl_block *block = by->blocks; block; block = block->next)
		add_block(run, body, block);
}

bool override_block(struct run *run, struct hcl_body *body, const struct hcl_block *by)
{
	if (strcmp(by->type, "test") == 0) {
		add_block(run, body, by);
		return true;
	}
	for (struct hcl_block *block = body->blocks; block; block = block->next) {
		run_step(run, 1);
		if (same_header(block, by)) {
			merge(run, &block->body, &by->body);
			return true;
		}
	}
	return false;
}
