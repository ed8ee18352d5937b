/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_V1_MOCKS_H
#define COMMON_TERRAFORM_V1_MOCKS_H

/* Mocks of the imports of before tfplan/v2 (v1.h). They have a function, so that they are code. Pure. */

#include "common/buf.h"
#include "common/json/json.h"

struct v1_mock {
	const char *const *imports; /* {"tfplan", "tfplan/v1", NULL} */
	const char *file;           /* "mock-tfplan.sentinel" */
	int import;                 /* enum v1_import */
};

extern const struct v1_mock v1_mocks[];
extern const size_t v1_mock_count;

/* `schemas` may be NULL. -1 if the buffer's limit would be exceeded, or if a part of the plan is too large. */
int v1_mock_write(const struct v1_mock *mock, const json_t *plan, const json_t *schemas, struct buf *out);

#endif
