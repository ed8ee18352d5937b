/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_CALL_H
#define SCHEDULER_STORE_VCS_CALLS_CALL_H

/* One call of a provider's API (store/vcs/calls/calls.h), for the functions that prepare it and apply its answer. */

#include "common/vcs/operation.h"
#include "scheduler/store/store.h"

/* The purpose of a call. */
enum vcs_purpose {
	VCS_FOR_REPORT,  /* a commit's status; the subject is "<sha> <context>" */
	VCS_FOR_COMMENT, /* a pull request's comment; the subject is its number */
	VCS_FOR_HOOK,    /* a repository's hook */
	VCS_FOR_LOOKUP,  /* a repository's id and default branch */
	VCS_FOR_VERIFY,  /* a connection's credentials */
	VCS_FOR_PULLS,   /* a repository's open pull requests */
	VCS_FOR_COMMIT,  /* the full hash of an event's commit; the subject is the event */
	VCS_FOR_FILES,   /* the files that an event changed; the subject is the event */
	VCS_FOR_REMOVAL, /* the hooks of a deleted connection */
	VCS_PURPOSES
};

struct vcs_purpose_traits {
	const char *name; /* the column's value */
	int urgency;      /* calls with a low one go first */
	bool writes;      /* it counts against the credential's limits */
};
extern const struct vcs_purpose_traits vcs_purposes[VCS_PURPOSES];
enum vcs_purpose vcs_purpose_of(const char *name);

/* Inserts calls of that purpose, at most `max`, by a statement that takes what vcs_lookups_enqueue takes. */
int vcs_calls_enqueue(
	struct store *store, enum vcs_purpose purpose, const struct db_statement *statement, int max, struct err *err);

/* One call that was claimed, for the functions that prepare it and that apply its answer. Borrowed. */
struct vcs_claimed {
	const char *id, *repository_id, *subject;
	const char *removal_id;    /* of VCS_FOR_REMOVAL, or NULL */
	const char *connection_id; /* or the installation's; a removal's connection may be deleted already */
	enum vcs_purpose purpose;
	enum vcs_operation operation;
	const json_t *arguments; /* of the operation that was sent */
	enum vcs_dialect dialect;
	const char *identifier; /* of the repository, or NULL */
	long long version;      /* of what was sent */
	int tries;
	long long token_generation; /* of the token that it was sent with */
	bool token_replaced;        /* since it was sent */
};

/* The next request of a call. */
struct vcs_prepared {
	enum vcs_operation operation; /* VCS_OPERATIONS: none, the call ends */
	json_t *arguments;            /* a new reference; a member `secret` is not stored */
	long long version;
	long long token_generation; /* set by the claim */
};

#endif
