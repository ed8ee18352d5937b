/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_IDENTITY_CREDENTIALS_H
#define WORKER_IDENTITY_CREDENTIALS_H

/*
 * Dynamic provider credentials: what a run's programs get from the configurations in a claimed job (proto/README.md,
 * "Dynamic credentials"). credentials.def has the kinds. Pure.
 *
 * The credentials of a job are an array of objects: the checked configurations with their members, and "session", the
 * name of the run's sessions. Vault's answers add the secrets as further members (vault_order.h). All values are a
 * tenant's, or a server's that a tenant chose.
 */

#include "common/json/json.h"
#include "worker/engine/variables.h"

struct err;

enum credential_kind {
#define KIND(symbol, name, variable, path, keep) CREDENTIAL_##symbol,
#include "worker/identity/credentials.def"
	CREDENTIAL_KINDS,
};

enum {
	MAX_CREDENTIALS = 32,
	MAX_CREDENTIAL_TAG = 128,
	MAX_CREDENTIAL_TITLE = 2 * MAX_CREDENTIAL_TAG,
	MAX_CREDENTIAL_VALUE = 16 * 1024,
	MAX_VAULT_TIMEOUT = 3600,      /* seconds */
	MAX_CERTIFICATES = 256 * 1024, /* of a Vault, as base64 */
};

/* Checks the configurations of a claimed job, and copies the members that their kinds have. NULL counts as an empty
 * array. -1 with ERR_INVALID and a sentence for users. */
int credentials_read(const json_t *claimed, const char *run, json_t **ret_credentials, struct err *err);

/* The kind of a checked configuration. */
enum credential_kind credential_kind(const json_t *item);
/* The value of a member, "" if there is none. Borrowed. */
const char *credential_value(const json_t *item, const char *member);
/* The configuration's name in messages: "aws", "aws (tag PROD)". */
void credential_title(const json_t *item, char ret_title[MAX_CREDENTIAL_TITLE]);

/* Whether a text from Vault can be used: one line of printable characters, or of the characters that keys and tokens
 * have. */
bool credential_line_fits(const char *value);
bool credential_word_fits(const char *value);

/* The configuration of that kind and tag, or NULL. Borrowed. */
const json_t *credentials_find(const json_t *credentials, enum credential_kind kind, const char *tag);

/* Calls fn with each secret that is known so far. */
void credentials_secrets(const json_t *credentials, void (*fn)(void *data, const char *secret), void *data);

/* ---- credentials_output.c: what programs get ---- */

/* The folder of the files, without a slash at its end. */
struct credential_paths {
	const char *own;    /* absolute, as the job sees it */
	const char *stable; /* the same folder in the values of input variables, which the plan file carries to the
			     * worker of the apply */
};

/* Calls fn with each file that has content, and its path below the folder. Stops at the first -1 and returns it. */
int credentials_files(const json_t *credentials, const struct credential_paths *paths,
	int (*fn)(void *data, const char *path, struct bytes content, struct err *err), void *data, struct err *err);
/* Sets the variables of the default configurations, and TF_VAR_... for the input variables of all kinds that the job
 * has, or of those that are members of `only`, unless that is NULL. They replace variables of the same name.
 * ERR_TOO_LARGE: a value does not fit into an environment. */
int credentials_environment(const json_t *credentials, const struct credential_paths *paths, const json_t *only,
	struct texts *env, struct err *err);

#endif
