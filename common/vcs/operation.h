/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_OPERATION_H
#define COMMON_VCS_OPERATION_H

/*
 * Requests to the APIs of VCS providers, and their answers. operations.def lists the operations with their arguments
 * and results; each dialect has a table of rows (operation_github.c and so on). Pure: the caller sends the request.
 *
 * Answers are hostile. They are read into new objects with the known members only, each checked and bounded.
 */

#include "common/vcs/operation_types.h"

struct err;

const char *vcs_operation_name(enum vcs_operation operation);
/* VCS_OPERATIONS for an unknown name, and for NULL. */
enum vcs_operation vcs_operation_of(const char *name);
/* False if the dialect lacks the operation. */
bool vcs_operation_exists(enum vcs_dialect dialect, enum vcs_operation operation);

struct vcs_http {
	const char *method; /* static */
	char *url;
	char *body;      /* JSON, or NULL */
	json_t *headers; /* an array of "Name: value"; one of them has the token */
};
void vcs_http_release(struct vcs_http *http);
/* Fills *ret_http, which the caller releases. ERR_INVALID if the dialect lacks the operation, or an argument is missing
 * or can't be part of a path. */
int vcs_http_make(const struct vcs_api *api, enum vcs_operation operation, const json_t *arguments,
	struct vcs_http *ret_http, struct err *err);

enum vcs_fate {
	VCS_TAKEN,
	VCS_AGAIN,
	VCS_NEVER, /* the provider would refuse it again */
};
struct vcs_verdict {
	enum vcs_fate fate;
	int wait_s;        /* VCS_AGAIN: the pause that the provider requests; 0: none */
	bool limited;      /* over a rate limit: no request with this credential until wait_s is over */
	bool unauthorized; /* the credential is refused; a new one may be taken: VCS_AGAIN */
	bool missing;      /* what the path names does not exist, or the credential may not see it */
	char why[400];     /* a sentence for users, unless it is taken */
};
void vcs_answer_judge(const struct vcs_answer *answer, struct vcs_verdict *ret_verdict);

/* Reads an answer that is taken. A new reference; ERR_MALFORMED if it lacks what the operation returns. */
int vcs_answer_read(const struct vcs_answer *answer, json_t **ret_result, struct err *err);

#endif
