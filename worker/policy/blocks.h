/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_BLOCKS_H
#define WORKER_POLICY_BLOCKS_H

/*
 * The blocks of a policy set's own configuration, policies.hcl or sentinel.hcl. Not all of HCL: it finds the top-level
 * blocks, whatever stands in them, and reads the attributes that are a plain quoted text. Pure.
 */

#include "common/json.h"

/*
 * An array of {"type": "policy", "label": "name" or "", "attributes": {"query": "data.x.deny"}, "begin": N, "end": N},
 * in their order; begin and end are the block's bytes in the text. ERR_INVALID with the line if it can't be read.
 */
int blocks_read(const char *text, size_t len, json_t **ret_blocks, struct err *err);
/* The same from the JSON form of such a file: {"policy": {"name": {"query": …}}}, or arrays of such objects. No bytes
 * then. */
int blocks_read_json(const char *text, size_t len, json_t **ret_blocks, struct err *err);

#endif
