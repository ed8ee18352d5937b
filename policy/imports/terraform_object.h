/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_TERRAFORM_OBJECT_H
#define POLICY_IMPORTS_TERRAFORM_OBJECT_H

/* Objects of the Terraform imports, made of the plan's JSON by the table common/terraform/imports.def. */

#include "common/terraform/imports.h"
#include "policy/imports/plan_file.h"

/* A row of the table. */
struct terraform_member {
	enum import_shape shape;
	struct string name;
	const char *source; /* a member of its JSON, or paths */
	size_t source_len;
	enum import_kind kind;
	enum import_shape of;
};

/* The rows of a shape. */
const struct terraform_member *terraform_members(enum import_shape shape, size_t *ret_count);

/* An object before it is made: its JSON, and what its place in the plan says. */
struct terraform_object {
	enum import_shape shape;
	struct plan_part part;
	struct value module, name, address; /* strings; zeroed if the shape has no such member */
};

/* The object as an element of a list or map: a map that is made when it is read. Copies `object`. */
struct value terraform_object_lazy(struct run *run, const struct terraform_object *object);
/* The value of one member. `part` is the JSON that its row names. Its type is VALUE_UNSET if it is left out. */
struct value terraform_member_value(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part);

/* The value of a collection (kinds NAMED to PROVISIONERS), a map or list of lazy objects. */
struct value terraform_collection(struct run *run, const struct terraform_member *member,
	const struct terraform_object *object, struct plan_part part);

#endif
