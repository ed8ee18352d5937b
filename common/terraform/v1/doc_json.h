/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_V1_DOC_JSON_H
#define COMMON_TERRAFORM_V1_DOC_JSON_H

/*
 * jansson's values as a doc. Made values live until the owner is released.
 *
 * An object has no other keys than strings, so that an instance's is "i" and its number, or "s" and the string. The
 * resource itself is its value.
 */

#include "common/json/json.h"
#include "common/terraform/v1/v1.h"

struct doc_json {
	const struct v1 *v1; /* for diffs, which are made at once */
	json_t *made;        /* an array of all made values; owned */
	size_t budget;       /* about the bytes that more made values may take */
	bool spent;          /* the budget is over: from then on made values are empty */
};

extern const struct doc_class doc_of_json;

void doc_json_init(struct doc_json *owner, size_t budget);
void doc_json_release(struct doc_json *owner);

struct doc_value doc_from_json(const json_t *value);
json_t *doc_to_json(struct doc_value value);

#endif
