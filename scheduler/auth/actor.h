/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_ACTOR_H
#define SCHEDULER_AUTH_ACTOR_H

/*
 * The caller of a request and its rights. A client gets the same 404 for an object that does not exist and for one that
 * its token may not see. Rights are granted to teams. A person has the rights of their teams. The token of a team or an
 * organization acts as a user of that team only.
 */

#include "scheduler/rights/rights.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/store.h"

struct actor {
	enum { ACTOR_NONE, ACTOR_USER, ACTOR_POOL, ACTOR_NOTIFIER, ACTOR_TASK, ACTOR_RUN, ACTOR_SCIM } kind;
	struct id user; /* of an ACTOR_USER */
	char username[64];
	bool is_site_admin;
	bool lacks_factor;        /* a site admin without the second factor that the site needs: not is_site_admin */
	bool is_service;          /* the token of a team or an organization, not of a person */
	bool must_confirm;        /* before site administration (site-admin-max-age of the provider) */
	struct id provider;       /* the identity provider behind the session or the token, or "" */
	struct id token;          /* the token that authenticated it, if that has an id */
	bool read_only;           /* a scoped token (auth/tokens.h): GET only */
	struct id only_workspace; /* likewise: nothing but this workspace; "": no such limit */
	bool first_use;           /* the audit trail does not have the token's first use yet */
	struct id impersonator;   /* the site admin who acts as the user in this session, or "" */
	char impersonator_name[64];
	struct id pool;                    /* of an ACTOR_POOL */
	struct id run;                     /* of an ACTOR_TASK, while its result is open; of an ACTOR_RUN */
	struct id workspace, organization; /* of an ACTOR_RUN: the run's processes (run_token.h) */
	bool scim_enabled, scim_paused;    /* of an ACTOR_SCIM: the settings of SCIM (scim_tokens.h) */
	/* Has a further column `closed` (auth/closed.h). */
	struct response_scope scope;
};

/* Finds the token's owner and records the token's use, at most once a minute. ERR_UNAUTHORIZED for an unknown or
 * expired token. The caller releases the actor. */
int actor_find(struct store *store, const char *token, struct actor *ret_actor, struct err *err);
/* The same for a browser's session, by its cookie (auth/sessions.h). */
int actor_of_session(struct store *store, const char *cookie, struct actor *ret_actor, struct err *err);
void actor_release(struct actor *actor);
/* Writes the event about the token's first use, unless another request has done so. The caller fills in the event but
 * for its organization. */
struct audit_event;
int actor_note_first_use(struct store *store, struct audit_event *event, struct err *err);
/*
 * Checks a permission. Returns 0 if the actor has it in that place, else -1 with ERR_NOT_FOUND.
 *  - If the place has no workspace (or project), a right of workspaces (or projects) suffices that the actor has
 *    anywhere in the organization. The caller checks again when it knows the full place.
 *  - A permission that the server checks itself (GATE) requires membership of the organization.
 *  - A token of one workspace has permissions in that workspace only, and may read its organization.
 *  - ERR_UNAUTHORIZED for a personal token in an organization that accepts none, or none as old.
 *  - ERR_FORBIDDEN without the second factor that the organization or the site needs, and for secrets while a site
 *    admin acts as the person.
 */
int actor_may(struct store *store, const struct actor *actor, enum permission permission, struct place place,
	struct err *err);
/* ERR_FORBIDDEN for a site admin without the second factor that the site needs. */
int actor_factor_check(const struct actor *actor, struct err *err);
/* The same as actor_may for resources that a run task's token may read too: those of a run with this configuration
 * version, or of this run (the other is NULL). */
int actor_may_for_task(struct store *store, const struct actor *actor, const char *run_id,
	const char *configuration_version_id, struct err *err);

#endif
