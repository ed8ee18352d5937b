/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_WATCHERS_H
#define SCHEDULER_AUTH_WATCHERS_H

/*
 * The owners of long answers and their rights, checked for many at a time. A request is checked once, at its start
 * (auth/actor.h); an answer that lasts is checked again and again, with one statement for all of them. The result is
 * the same as that of actor_find, actor_of_session and actor_may for users.
 */

#include "scheduler/auth/actor.h"

/* One organization of a watcher. */
struct watcher_membership {
	struct id organization;
	rights rights; /* in all of it */
};

struct watcher {
	char hash[SHA256_HEX_SIZE]; /* the digest of the token or the session's cookie */
	/* Filled by watchers_check. */
	bool valid;
	struct id user;
	bool is_site_admin;
	struct watcher_membership *memberships; /* owned */
	size_t count;
	char *closed; /* the organizations that refuse this credential (auth/closed.h); owned, or NULL */
};

/* Sets the digest of the request's token, or of its session's cookie. */
void watcher_init(struct watcher *watcher, const char *token, const char *cookie);
void watcher_release(struct watcher *watcher);
int watchers_check(struct store *store, struct watcher *const *watchers, size_t count, struct err *err);

enum watcher_answer {
	WATCHER_MAY_NOT,
	WATCHER_MAY,
	WATCHER_MAY_BY_WORKSPACE, /* if `given` rights in the workspace have the permission: watcher_rights_read */
};

/* Whether the watcher has the permission in that place. CAN_ADMINISTER_SITE is that of a site admin. */
enum watcher_answer watcher_may(const struct watcher *watcher, enum permission permission, const struct place *place);

/* The rights that teams give a user in one workspace. The texts are borrowed. */
struct watcher_rights {
	const char *user, *organization, *workspace;
	rights given; /* filled */
};
int watcher_rights_read(struct store *store, struct watcher_rights *items, size_t count, struct err *err);

#endif
