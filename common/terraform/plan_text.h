/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_PLAN_TEXT_H
#define COMMON_TERRAFORM_PLAN_TEXT_H

/* Reads `terraform show -json` of a plan for policies. Pure. */

#include <stddef.h>

#include "common/json/json.h"

/* Bytes of memory for a parsed plan in a worker, which bounds no documents together (common/memory.h). */
enum { PLAN_MEMORY_MAX = 1 << 30 };

/* Whole numbers of more than 63 bits become floating-point numbers; the other numbers keep their kind. ERR_MALFORMED if
 * the text can't be parsed or is no object; other errors of json_document_load. */
int plan_parse(const char *text, size_t len, struct json_document *ret_plan, struct err *err);

#endif
