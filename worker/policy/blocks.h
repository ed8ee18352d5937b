/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_BLOCKS_H
#define WORKER_POLICY_BLOCKS_H

/*
 * Reads the blocks of a policy set's own configuration, policies.hcl or sentinel.hcl. It implements a part of HCL: it
 * finds the top-level blocks, whatever their bodies hold, and reads the attributes whose value is a plain quoted text.
 * Others are null.
 * Pure.
 */

#include "common/json/json.h"

/*
 * Returns an array of {"type": "policy", "label": "name" or "", "attributes": {"query": "data.x.deny"}, "begin": N,
 * "end": N}, in their order. `begin` and `end` are byte offsets of the block in the text. ERR_INVALID with the line if
 * the text can't be parsed.
 */
int blocks_read(const char *text, size_t len, json_t **ret_blocks, struct err *err);
/* Reads the JSON form of such a file: {"policy": {"name": {"query": …}}}, or arrays of such objects. The result has
 * no `begin` and `end`. */
int blocks_read_json(const char *text, size_t len, json_t **ret_blocks, struct err *err);

#endif
