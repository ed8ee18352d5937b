/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CREDENTIALS_H
#define SCHEDULER_STORE_VCS_CREDENTIALS_H

/* Credentials of repositories, for git and for calls of providers' APIs. */

#include "common/vcs/operation.h"
#include "scheduler/store/store.h"

/* All texts are owned, and cleansed when the credential is released. Never log them. */
struct vcs_credential {
	enum vcs_provider provider;
	enum vcs_dialect dialect;
	char *identifier; /* of the repository; NULL for vcs_credential_of_connection */
	char *http_url, *api_url;
	char *user;      /* for git over https (common/vcs/address.h); NULL: none */
	char *token;     /* a token, or the password of plain git; NULL: none */
	char *ssh_key;   /* a private key in PEM or OpenSSH's form; NULL: none */
	char *host_keys; /* lines of known_hosts; "": none is pinned yet */
	char *pool_id;   /* the pool whose workers use git and send calls; NULL: none */
	struct id organization, connection, installation; /* connection or installation is "" */
	/* Seconds until the token expires; -1: never, or not known. */
	long long expires_in;
	long long generation; /* of the token: each one that is set has a higher number; 0: there is no token */
};
#define VCS_CREDENTIAL_INIT                                                                                            \
	{                                                                                                              \
		.user = NULL, .expires_in = -1                                                                         \
	}

void vcs_credential_release(struct vcs_credential *credential);
/* ERR_NOT_FOUND if there is no such repository. ERR_UNAVAILABLE if another scheduler has the key that opens it. */
int vcs_credential_read(
	struct store *store, const char *repository_id, struct vcs_credential *ret_credential, struct err *err);
/* The same for a connection, without a repository. */
int vcs_credential_of_connection(
	struct store *store, const char *connection_id, struct vcs_credential *ret_credential, struct err *err);
/* The same for an installation of the site's GitHub App. */
int vcs_credential_of_installation(
	struct store *store, const char *installation_id, struct vcs_credential *ret_credential, struct err *err);
/* The same for the hooks of a deleted connection (calls/removals.h). Only for the API, not for git. */
int vcs_credential_of_removal(
	struct store *store, const char *removal_id, struct vcs_credential *ret_credential, struct err *err);

/* The pool whose workers send the calls of the credential's API, borrowed; NULL: notifiers and schedulers send them.
 * These send the calls of the site's GitHub App in any case: its API is the site's. */
const char *vcs_credential_forwarder(const struct vcs_credential *credential);

/* The parameters of calls with the credential; borrowed from it. */
struct vcs_api vcs_credential_api(const struct vcs_credential *credential);

#endif
