/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACTOR_H
#define SCHEDULER_AUTH_ACTOR_H

/*
 * The caller of a request and its rights. A client gets the same 404 for an object that is not there and for one that
 * its token may not see. Rights are granted to teams. A person has the rights of their teams. A team's or an
 * organization's token acts as a user who is in that team alone.
 */

#include "scheduler/auth/rights.h"
#include "scheduler/store/store.h"
#include "scheduler/store/viewer.h"

struct actor {
	enum { ACTOR_NONE, ACTOR_USER, ACTOR_POOL, ACTOR_NOTIFIER, ACTOR_TASK, ACTOR_RUN } kind;
	struct id user; /* of an ACTOR_USER */
	char username[64];
	bool is_site_admin;
	bool is_service; /* a team's or an organization's token, no person */
	struct id token; /* what it was found by, if that has an id */
	struct id pool;  /* of an ACTOR_POOL */
	struct id run;   /* of an ACTOR_TASK: a run task's request, while it is open; of an ACTOR_RUN */
	struct id workspace, organization; /* of an ACTOR_RUN: what runs in a run, while it does (run_token.h) */
	/* With a column `closed`, too: the ids of organizations that take no tokens of people, each between commas. */
	struct viewer viewer;
	/* Of one that may be remembered (auth/recall.h): the token's digest, and the rights' version when, and the
	 * connection on which it was read. */
	char hash[SHA256_HEX_SIZE];
	long long version; /* 0: it may not */
	unsigned long long connection;
};

/* The organization is always known; the rest as far as it goes. Borrowed ids. */
struct place {
	const char *organization, *project, *workspace;
};

/* Finds the token's owner and notes its use, at most once a minute. ERR_UNAUTHORIZED for an unknown or expired one.
 * The caller releases the actor. */
int actor_find(struct store *store, const char *token, struct actor *ret_actor, struct err *err);
/* The same for a browser's session, by its cookie (auth/sessions.h). */
int actor_of_session(struct store *store, const char *cookie, struct actor *ret_actor, struct err *err);
void actor_release(struct actor *actor);
/*
 * 0 if the actor may do it there, else ERR_NOT_FOUND "<what> not found". A place without a workspace (or a project)
 * asks for a right of workspaces (or projects) that the actor has anywhere in the organization; who knows the rest of
 * the place asks again. Whatever the server checks itself asks for membership. ERR_UNAUTHORIZED for a person's token in
 * an organization that takes none.
 */
int actor_may(struct store *store, const struct actor *actor, enum permission permission, struct place place,
	const char *what, struct err *err);
/* The same for what a run task's token may read too: that of a run with this configuration version, or this run (the
 * other is NULL). */
int actor_may_for_task(struct store *store, const struct actor *actor, const char *run_id,
	const char *configuration_version_id, struct err *err);

#endif
