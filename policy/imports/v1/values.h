/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_V1_VALUES_H
#define POLICY_IMPORTS_V1_VALUES_H

/* Values of the language as a doc (common/terraform/v1/doc.h), for v1.h. Its owner is a struct v1_owner. */

#include "common/terraform/v1/v1.h"
#include "policy/values/value.h"

struct v1_owner {
	struct run *run;
	struct v1 v1; /* for resources, which are made when they are read */
};

extern const struct doc_class doc_of_values;

struct doc_value doc_from(struct value value);
/* Undefined is none. */
struct value doc_to(struct doc_value value);

#endif
