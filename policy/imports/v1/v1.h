/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_V1_V1_H
#define POLICY_IMPORTS_V1_V1_H

/*
 * The imports tfplan, tfconfig and tfstate of before tfplan/v2 (common/terraform/v1/v1.h). Nothing of the files is read
 * before the policy uses a field, and a resource is made when the policy reads it.
 */

#include "policy/values/value.h"

/* `schemas` is a file of `terraform providers schema -json`, or NULL. The files must live as long as the run. */
struct value import_v1_plan(struct run *run, const struct source *plan, const struct source *schemas);
struct value import_v1_config(struct run *run, const struct source *plan, const struct source *schemas);
struct value import_v1_state(struct run *run, const struct source *plan, const struct source *schemas);

#endif
