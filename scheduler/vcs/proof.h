/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_PROOF_H
#define SCHEDULER_VCS_PROOF_H

/* Checks that a delivery comes from the provider, and reads its id. Pure; the time is an argument. */

#include "common/buf.h"
#include "common/json/json.h"
#include "common/vcs/dialect.h"

/* A request to a hook, as it arrived. Borrowed. */
struct vcs_delivery {
	enum vcs_dialect dialect;
	/* The value of a header, whatever the case of its name; NULL if it is absent. */
	const char *(*header)(const void *headers, const char *name);
	const void *headers;
	struct bytes body; /* the raw bytes */
};

/* The secrets of a hook. NULL or "" proves nothing. */
struct vcs_secrets {
	const char *current;
	const char *previous; /* NULL once its time is over */
};

/* A signed timestamp may differ from the current time by this many seconds. */
enum { VCS_PROOF_SECONDS = 300 };

/*
 * True if the delivery proves one of the secrets. Compares in constant time, and always with both secrets.
 * `now_seconds`: since the epoch. The proof is:
 *
 *  - GitHub: X-Hub-Signature-256.
 *  - GitLab: webhook-signature if the secret begins with "whsec_" and the header is there, else X-Gitlab-Token.
 *  - Bitbucket: X-Hub-Signature, with SHA-256.
 *  - Azure DevOps: the password of basic authentication, or X-Runyard-Secret.
 *  - Gitea, Forgejo: X-Gitea-Signature, else X-Forgejo-Signature, else X-Hub-Signature-256.
 *  - Plain git: none, since it has no hooks.
 */
bool vcs_proof_holds(const struct vcs_delivery *delivery, const struct vcs_secrets *secrets, long long now_seconds);

enum { VCS_DELIVERY_ID_SIZE = 160, VCS_EVENT_NAME_SIZE = 80 };

struct vcs_delivery_name {
	char id[VCS_DELIVERY_ID_SIZE];   /* the same if the provider repeats the delivery; never "" */
	char event[VCS_EVENT_NAME_SIZE]; /* the provider's name of the event; "" if it sent none */
};

/* Names the delivery by its headers, or by its body (Azure DevOps; `body` may be NULL). A delivery without an id is
 * named by the hash of its bytes. */
void vcs_delivery_name(const struct vcs_delivery *delivery, const json_t *body, struct vcs_delivery_name *ret_name);

#endif
