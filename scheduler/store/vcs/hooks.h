/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_HOOKS_H
#define SCHEDULER_STORE_VCS_HOOKS_H

/* Hooks of repositories, and the deliveries of their providers (vcs_deliveries). */

#include "common/vcs/dialect.h"
#include "scheduler/store/store.h"

/* The secrets are owned, and cleansed when the hook is released. */
struct vcs_hook {
	const char *id; /* the last part of the hook's URL, any text. Borrowed, and set by the caller */
	struct err err; /* ERR_NOT_FOUND, or why a secret can't be opened; ERR_NONE: the rest is filled */
	struct id repository;
	enum vcs_dialect dialect;
	char *secret;   /* NULL: none */
	char *previous; /* is also accepted; NULL: none */
};
void vcs_hook_release(struct vcs_hook *hook);

/* Reads the hooks by their ids. Several may have the same id. */
int vcs_hooks_read(struct store *store, struct vcs_hook *hooks, size_t count, struct err *err);

/* Borrowed. */
struct vcs_delivery_row {
	const char *repository_id;
	const char *id, *event; /* scheduler/vcs/proof.h */
	struct bytes body;      /* JSON */
};
/* Stores the deliveries. Leaves out those whose id is stored already. */
int vcs_deliveries_add(struct store *store, const struct vcs_delivery_row *deliveries, size_t count, struct err *err);

#endif
