/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_OPERATION_TYPES_H
#define COMMON_VCS_OPERATION_TYPES_H

/* The types of operations, their requests and their answers, for common/vcs/operation.h and the tables of the dialects.
 */

#include <time.h>

#include "common/json/json.h"
#include "common/vcs/dialect.h"

enum vcs_operation {
#define OPERATION(symbol, name) VCS_OP_##symbol,
#include "common/vcs/operations.def"
#undef OPERATION
	VCS_OPERATIONS
};

/* The most repositories, pull requests, comments or hooks that a page of a list has; and the most commits. */
enum { VCS_LIST_MAX = 100, VCS_COMMITS_MAX = 20 };

/* The address of a provider's API, and the credential. Borrowed texts. */
struct vcs_api {
	enum vcs_dialect dialect;
	const char *api_url;    /* of the connection */
	const char *identifier; /* of the repository; NULL for verify and repositories */
	const char *token;      /* NULL: none */
	bool app;               /* the token is of a GitHub App's installation */
};

/* The answer of a provider. Borrowed. */
struct vcs_answer {
	enum vcs_dialect dialect;
	enum vcs_operation operation;
	const json_t *arguments;
	int status;            /* 0: there was no complete answer, and `error` says why */
	const json_t *headers; /* {"name": ["value", ...]}, names in lower case; or NULL */
	const json_t *body;    /* NULL if it is not JSON */
	const char *error;
	bool forbidden; /* the address may not be called, so a repetition is useless */
	bool internal;  /* only the operator's allow-list permits the address: texts of the answer are not shown */
	time_t now;
};

#endif
