/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_SIGN_IN_H
#define SCHEDULER_UI_SIGN_IN_H

/* The end of each sign-in, whatever proved who the person is. */

#include "scheduler/api/api.h"

/* How a person has signed in. Borrowed. */
struct sign_in {
	const struct id *user;
	const char *username;
	const char *method;       /* "password", "passkey", "oidc" or "saml" */
	struct db_array *factors; /* further factors, or NULL */
	const char *provider_id;  /* of "oidc" and "saml" */
	const char *provider_session;
	const char *return_path; /* where the browser goes on: any text, which return_path checks */
};

/* Creates the session, with an audit event, and redirects to the return path. A session that the browser had ends. */
int sign_in_complete(struct request *req, struct response *res, const struct sign_in *how, struct err *err);

/* A sign-in that was refused. */
struct sign_in_refusal {
	int status;
	const char *username;    /* that was claimed, or NULL */
	const char *method;      /* as above */
	const char *sentence;    /* for the person */
	const char *reason;      /* for the audit event; NULL: the sentence */
	const char *return_path; /* as above */
};
/* Shows the sign-in page with the sentence. */
int sign_in_show(struct request *req, struct response *res, const struct sign_in_refusal *refusal, struct err *err);
/* Writes the audit event. */
int sign_in_refusal_write(struct request *req, const struct sign_in_refusal *refusal, struct err *err);
/* Both. */
int sign_in_refuse(struct request *req, struct response *res, const struct sign_in_refusal *refusal, struct err *err);

#endif
