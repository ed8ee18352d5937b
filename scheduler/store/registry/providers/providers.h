/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_PROVIDERS_PROVIDERS_H
#define SCHEDULER_STORE_REGISTRY_PROVIDERS_PROVIDERS_H

/*
 * Providers of an organization's registry: private ones, whose versions are stored here (provider_versions.h), and
 * pointers to providers of the public registry. The namespace of a private provider is the name of its organization.
 */

#include "scheduler/store/registry/modules.h"

enum { MAX_REGISTRY_PROVIDERS = 5000, MAX_PROVIDER_NAME = 64 };

/* Names compare without case. Borrowed. */
struct provider_address {
	const char *organization_id;
	const char *registry_name, *namespace, *name;
};

/* Adds a provider. `namespace` is that of a public one, and "" for a private one. ERR_INVALID if the address is not
 * well-formed or taken, or the organization has MAX_REGISTRY_PROVIDERS. */
int registry_provider_create(
	struct store *store, const struct provider_address *address, struct id *ret_id, struct err *err);
/* The shape `registry_provider`. ERR_NOT_FOUND. */
int registry_provider_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same by its address. */
int registry_provider_find(
	struct store *store, const struct provider_address *address, struct rows *ret_rows, struct err *err);

struct provider_list {
	const char *organization_id;
	const char *search;                     /* part of the name or the namespace, or NULL */
	const char *registry_name, *owner;      /* NULL: any; `owner` is the name of an organization */
	struct db_array *tag_keys, *tag_values; /* NULL or empty: any tags; a value of "" is any value */
	struct list_range range;
};
/* One page by name, with `total`; a row with a null id if the page is empty. */
int registry_providers_list(
	struct store *store, const struct provider_list *list, struct rows *ret_rows, struct err *err);
/* Deletes the provider, with its versions. */
int registry_provider_delete(struct store *store, const char *id, struct err *err);

#endif
