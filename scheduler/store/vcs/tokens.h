/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_TOKENS_H
#define SCHEDULER_STORE_VCS_TOKENS_H

/*
 * Credentials of connections: the API's oauth-tokens. A connection has one at most.
 *
 * Rows are `vcs_token`.
 */

#include "scheduler/store/store.h"

/* The contexts of the seals (store/content/seals.h): each is followed by the token's id. */
#define VCS_TOKEN_SEAL   "vcs-token:"
#define VCS_REFRESH_SEAL "vcs-refresh:"
#define VCS_SSH_KEY_SEAL "vcs-ssh-key:"

/* Sorted by creation, with `total`; a row with a null id if the page is empty. Either id is NULL. */
struct vcs_token_list {
	const char *organization_id, *connection_id;
	long long limit, offset;
};
int vcs_tokens_list(struct store *store, const struct vcs_token_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int vcs_token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int vcs_tokens_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* A token from a provider or a user. */
struct vcs_token {
	const char *token;     /* NULL: none, as for git over ssh */
	const char *refresh;   /* OAuth's refresh token, or NULL */
	long long expires_in;  /* in seconds; 0: it does not expire */
	const char *user_name; /* of the provider; NULL: not known */
	bool verified;         /* the provider has accepted it */
};
/* Sets the connection's token: creates it, or replaces the token and keeps its id, SSH key and host keys. */
int vcs_token_put(struct store *store, const char *connection_id, const struct vcs_token *token, struct err *err);

/* NULL: unchanged; "": none. */
struct vcs_token_change {
	const char *ssh_key, *host_keys;
};
int vcs_token_update(struct store *store, const char *id, const struct vcs_token_change *change, struct err *err);
/* Stores the provider's verdict about the token of that generation, unless a newer one was set; `error` is NULL unless
 * the provider refused it. */
struct vcs_token_verdict {
	const char *state; /* unverified, verified, refused */
	const char *error, *user_name;
	long long generation;
};
int vcs_token_judge(
	struct store *store, const char *connection_id, const struct vcs_token_verdict *verdict, struct err *err);
/* Disconnects the workspaces, policy sets and modules that use repositories of its connection. A notifier deletes the
 * hooks at the provider later (calls/removals.h). */
int vcs_token_delete(struct store *store, const char *id, struct err *err);

#endif
