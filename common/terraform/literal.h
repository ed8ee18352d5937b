/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_LITERAL_H
#define COMMON_TERRAFORM_LITERAL_H

#include "common/buf.h"
#include "common/json/json.h"

/* JSON values as literals of the Sentinel language and of HCL. They differ from JSON in the escapes of texts only, and
 * HCL's texts interpolate. */
enum literal { LITERAL_SENTINEL, LITERAL_HCL };

/* -1: over the buffer's limit. */
int literal_write(struct buf *out, const json_t *value, enum literal kind);

#endif
