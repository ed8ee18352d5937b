/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_VALUES_H
#define WORKER_COST_VALUES_H

/* The values of one resource in a plan, as the attributes of a price book address them. */

#include "common/json/json.h"

/* All borrowed; each may be NULL. */
struct values {
	const json_t *planned;   /* the resource's values, before or after */
	const json_t *unknown;   /* true for values that are known only after the apply; the same shape */
	const json_t *sensitive; /* true for sensitive values; the same shape */
	const json_t *provider;  /* its provider's configuration: {"region": "eu-west-1"} */
	const json_t *env;       /* the run's environment: {"AWS_REGION": "eu-west-1"} */
	const json_t *each;      /* the element of a repeated block, for paths with the prefix "each." */
	const json_t *each_unknown, *each_sensitive;
};

enum value_state { VALUE_KNOWN, VALUE_NONE, VALUE_UNKNOWN };

struct value {
	enum value_state state;
	const char *text; /* VALUE_KNOWN; borrowed */
	bool sensitive;
};

/*
 * The value at a path. A path consists of names and list indexes, separated by dots ("root_block_device.0.iops"). It
 * starts in the resource's values, or by its prefix elsewhere: "each." in the element, "provider." in the provider's
 * configuration, "env." in the environment. Numbers and booleans become texts. null, "", lists and objects count as
 * none.
 */
struct value value_at(const struct values *values, const char *path);

/* The member or element at such a path, or NULL. If a value on the way is `true`, returns that value, because the
 * trees of unknown and sensitive values mark whole subtrees this way. */
const json_t *tree_at(const json_t *tree, const char *path);

#endif
