/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_HOOKS_H
#define SCHEDULER_STORE_VCS_HOOKS_H

/* Hooks of repositories, and what their providers send to them (vcs_deliveries). */

#include "common/vcs/dialect.h"
#include "scheduler/store/store.h"

/* The secrets are owned, and cleansed when the hook is released. */
struct vcs_hook {
	struct id repository;
	enum vcs_dialect dialect;
	char *secret;   /* NULL: none */
	char *previous; /* accepted, too; NULL: none any more */
};
#define VCS_HOOK_INIT                                                                                                  \
	{                                                                                                              \
		.secret = NULL, .previous = NULL                                                                       \
	}
void vcs_hook_release(struct vcs_hook *hook);

/* `id` is the last part of the hook's URL, any text. ERR_NOT_FOUND. */
int vcs_hook_read(struct store *store, const char *id, struct vcs_hook *ret_hook, struct err *err);

/* Borrowed. */
struct vcs_delivery_row {
	const char *repository_id; /* NULL: of the site's GitHub App */
	const char *id, *event;    /* scheduler/vcs/proof.h */
	struct bytes body;         /* JSON */
};
/* Stores the delivery unless one with its id is there, and then wakes the VCS threads. Outside of a transaction. */
int vcs_delivery_add(struct store *store, const struct vcs_delivery_row *delivery, struct err *err);

#endif
