/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_VALUES_H
#define WORKER_COST_VALUES_H

/* What a plan says about one resource, as the attributes of a price book look at it. */

#include "common/json.h"

/* All borrowed; each may be NULL. */
struct values {
	const json_t *planned;   /* the resource's values, before or after */
	const json_t *unknown;   /* true where a value is known only after the apply; the same shape */
	const json_t *sensitive; /* true where a value is not to be shown; the same shape */
	const json_t *provider;  /* its provider's configuration: {"region": "eu-west-1"} */
	const json_t *env;       /* the run's environment: {"AWS_REGION": "eu-west-1"} */
	const json_t *each;      /* the element of a repeated block, for the paths that begin with "each." ... */
	const json_t *each_unknown, *each_sensitive;
};

enum value_state { VALUE_KNOWN, VALUE_NONE, VALUE_UNKNOWN };

struct value {
	enum value_state state;
	const char *text; /* VALUE_KNOWN; borrowed */
	bool sensitive;
};

/*
 * The value at a path: names, and numbers for the elements of a list, separated by dots ("root_block_device.0.iops").
 * It begins in the resource's values, or with "each." in the element, "provider." in the provider's configuration, or
 * "env." in the environment. Numbers and booleans are texts; null, "" and what is no single value count as none.
 */
struct value value_at(const struct values *values, const char *path);

/* The member or element at a path of the same kind, or NULL. If something on the way is `true` itself, that: so it is
 * in the trees that say what is unknown or sensitive. */
const json_t *tree_at(const json_t *tree, const char *path);

#endif
