/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_LITERAL_H
#define COMMON_TERRAFORM_LITERAL_H

#include "common/buf.h"
#include "common/json/json.h"

/* Writes JSON values as literals of the Sentinel language and of HCL. These differ from JSON only in the escapes of
 * strings; HCL strings also interpolate. */
enum literal { LITERAL_SENTINEL, LITERAL_HCL };

/* -1 if the buffer's limit would be exceeded. */
int literal_write(struct buf *out, const json_t *value, enum literal kind);

#endif
