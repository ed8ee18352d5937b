/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_PROVIDERS_GPG_KEYS_H
#define SCHEDULER_STORE_REGISTRY_PROVIDERS_GPG_KEYS_H

/* Public OpenPGP keys of an organization, which sign the versions of its private providers (provider_versions.h). A key
 * that a version uses can't be deleted or given away. */

#include "scheduler/store/store.h"

enum { MAX_GPG_KEYS = 100 };

struct gpg_key_draft {
	const char *organization_id, *key_id, *fingerprint, *ascii_armor;
};
/* ERR_INVALID if the organization has the key, or MAX_GPG_KEYS. */
int gpg_key_create(struct store *store, const struct gpg_key_draft *draft, struct id *ret_id, struct err *err);
/* The shape `gpg_key`. ERR_NOT_FOUND. */
int gpg_key_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same by its key id (in any case). */
int gpg_key_find(
	struct store *store, const char *organization_id, const char *key_id, struct rows *ret_rows, struct err *err);
/* One page, with `total`; a row with a null id if the page is empty. */
int gpg_keys_list(struct store *store, struct db_array *organization_ids, const struct list_range *range,
	struct rows *ret_rows, struct err *err);
/* Gives the key to another organization. ERR_CONFLICT if a version uses it; ERR_INVALID if that one has the key. */
int gpg_key_move(struct store *store, const char *id, const char *organization_id, struct err *err);
/* ERR_CONFLICT if a version uses it. */
int gpg_key_delete(struct store *store, const char *id, struct err *err);

#endif
