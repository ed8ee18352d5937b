/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_IMPORT_VALUES_H
#define COMMON_TERRAFORM_IMPORT_VALUES_H

/* The imports of a plan as JSON, made of the table imports.def. Pure. */

#include "common/json/json.h"
#include "common/terraform/imports.h"

/* The fields of an import (SHAPE_TFPLAN, SHAPE_TFSTATE, SHAPE_TFCONFIG) by name. A new reference; values of the plan
 * are shared with it. */
json_t *import_values(enum import_shape import, const json_t *plan);

#endif
