/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HCL_BLOCKS_H
#define COMMON_HCL_BLOCKS_H

/*
 * The top-level blocks of a configuration as JSON, whatever their bodies hold. Of the attributes only those whose value
 * is a string without a template have a value; all others are null. Pure.
 */

#include "common/json/json.h"

/*
 * Returns an array of {"type": "policy", "label": "name" or "", "attributes": {"query": "data.x.deny"}, "begin": N,
 * "end": N}, in their order. `label` is the last one. `begin` and `end` are byte offsets of the block in the text.
 * ERR_INVALID with the line if the text can't be read, or has more than 100,000 blocks and attributes.
 */
int hcl_blocks(const char *text, size_t len, json_t **ret_blocks, struct err *err);
/* Reads the JSON form of such a file: {"policy": {"name": {"query": …}}}, or arrays of such objects. The result has
 * no `begin` and `end`. */
int hcl_blocks_json(const char *text, size_t len, json_t **ret_blocks, struct err *err);

#endif
