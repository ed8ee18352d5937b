/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_HCL_H
#define POLICY_CONFIGURATION_HCL_H

/*
 * Configuration files: HCL with literals alone, and its JSON form. Both give one tree.
 *
 * A literal is a string, heredoc, number, bool, null, list or object. A variable, a function, an operator or `${` is an
 * error at its place. `$${` is the text `${`. An object's members are `k = v` or `"k": v`, separated by newlines or
 * commas.
 *
 * Everything is the run's arena's. All functions fail at the first error (core/run.h).
 */

#include <stdbool.h>

#include "common/hcl/hcl.h"
#include "policy/core/run.h"
#include "policy/values/value.h"

struct hcl_attribute {
	const char *name;
	uint32_t offset; /* of the name in the source; JSON: 0 */
	struct value value;
	struct hcl_attribute *next;
};

struct hcl_block;

/* In the order of the file. */
struct hcl_body {
	struct hcl_attribute *attributes;
	struct hcl_block *blocks;
};

struct hcl_block {
	const char *type;
	const char *labels[HCL_LABELS];
	unsigned label_count;
	const struct source *source;
	uint32_t begin; /* in the source; JSON: 0 */
	struct hcl_body body;
	struct hcl_block *next;
};

/* The labels, attributes and blocks of a kind of block. The JSON form can't be read without them. */
struct hcl_type {
	const char *name; /* NULL ends a table */
	unsigned labels;
	const char *const *attributes; /* ended by NULL */
	const char *shorthand;         /* JSON: the attribute that a value in place of a body gives; or NULL */
	const struct hcl_type *nested; /* or NULL */
};

/* Reads the native form. Blocks and attributes of any name are accepted. */
struct hcl_body *hcl_read(struct run *run, const struct source *source);
/* Reads the JSON form with these top-level blocks. */
struct hcl_body *hcl_read_json(struct run *run, const struct source *source, const struct hcl_type *types);
/* Reads one literal, which is the whole source. */
struct value hcl_literal(struct run *run, const struct source *source);

/* The value of the attribute, or of a nested block of that name without labels, as a map. False if there is none. */
bool hcl_get(struct run *run, const struct hcl_body *body, const char *name, struct value *ret_value);
/* The row of that name, or NULL. `types` may be NULL. */
const struct hcl_type *hcl_type(const struct hcl_type *types, const char *name);
bool hcl_has_attribute(const struct hcl_type *type, const char *name);

#endif
