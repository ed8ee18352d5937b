/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_V1_V1_H
#define COMMON_TERRAFORM_V1_V1_H

/*
 * The Terraform imports of before tfplan/v2: tfplan, tfconfig and tfstate, also as tfplan/v1, made of the plan's JSON.
 *
 * A module is a map: `path`, and `resources` and `data` by type and name; of a plan and a state also by index, which is
 * 0 for a resource without count and for_each. A module of the configuration has `modules`, `outputs`, `providers` and
 * `variables`, too.
 *
 * A plan has the resources that change, without deposed objects. A diff has flat keys:
 *
 *	list.#  map.%  the number of elements; `computed` if one of them is not known yet
 *	list.0  map.k  an element
 *
 * The key of an attribute that is not known at all ends with # or % if the provider's schema says that it is a list,
 * set or map. Without the schema its value before the change decides.
 */

#include "common/terraform/v1/doc.h"

enum v1_import { V1_PLAN, V1_CONFIG, V1_STATE };

struct v1 {
	struct doc doc;
	enum v1_import import;
	struct doc_value plan, schemas; /* schemas: of `terraform providers schema -json`, or none */
};

/* The modules by their addresses ("", "module.a.module.b[0]"); the root is the first, and always there. */
struct doc_value v1_modules(const struct v1 *v1);
/* A resource of a module (struct doc_class, set_element), of the plan's JSON. */
struct doc_value v1_element(const struct v1 *v1, struct doc_value resource);
/* The paths of the modules. */
struct doc_value v1_module_paths(const struct v1 *v1, struct doc_value modules);

/* Of the plan: the variables of the root. */
struct doc_value v1_variables(const struct v1 *v1);
/* Of the state: the outputs of the root. */
struct doc_value v1_outputs(const struct v1 *v1);
/* Of the plan or the state. */
struct doc_value v1_terraform_version(const struct v1 *v1);

/* change.c: of resource_changes, and its `diff` (struct doc_class). */
struct doc_value v1_change(const struct v1 *v1, struct doc_value resource);
struct doc_value v1_diff(const struct v1 *v1, struct doc_value resource);
/* config.c: what is declared in a module and for it, and a resource of it. */
void v1_declared(const struct v1 *v1, struct doc_value declared, struct doc_value module);
void v1_providers(const struct v1 *v1, struct doc_value modules);
struct doc_value v1_configured(const struct v1 *v1, struct doc_value resource);

#endif
