/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULES_H
#define SCHEDULER_STORE_REGISTRY_MODULES_H

/*
 * Modules of an organization's registry: private ones, whose versions are stored here (module_versions.h), and pointers
 * to modules of the public registry. The namespace of a private module is the name of its organization.
 *
 * Other organizations use the private modules of one that shares them (module_consumers, global-module-sharing).
 */

#include "scheduler/store/store.h"

#define REGISTRY_PRIVATE "private"
#define REGISTRY_PUBLIC  "public"

enum { MAX_REGISTRY_MODULES = 5000, MAX_MODULE_NAME = 64 };

/* Names compare without case, providers with it. Borrowed. */
struct module_address {
	const char *organization_id; /* that uses the module */
	const char *registry_name, *namespace;
	const char *name, *provider;
};

/* Whether registry_module_create would take the address. */
int registry_module_address_free(
	struct store *store, const struct module_address *address, bool *ret_free, struct err *err);
/* Adds a module of the organization. `namespace` is that of a public one, and "" for a private one. ERR_INVALID if the
 * address is not well-formed or taken, or the organization has MAX_REGISTRY_MODULES. */
int registry_module_create(
	struct store *store, const struct module_address *address, struct id *ret_id, struct err *err);
/* The shape `registry_module`. ERR_NOT_FOUND. */
int registry_module_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same by its address, also if another organization shares the module. ERR_NOT_FOUND. */
int registry_module_find(
	struct store *store, const struct module_address *address, struct rows *ret_rows, struct err *err);

struct module_list {
	const char *organization_id;
	const char *search; /* part of the name, the namespace or the provider, or NULL */
	const char *registry_name, *owner, *name, *provider; /* NULL: any; `owner` is the name of an organization */
	struct db_array *tag_keys, *tag_values;              /* NULL or empty: any tags; a value of "" is any value */
	struct list_range range;
};
/* One page by name, with `total`; a row with a null id if the page is empty. */
int registry_modules_list(struct store *store, const struct module_list *list, struct rows *ret_rows, struct err *err);

/* Those of the organizations (ids) with which the organization shares its modules: rows module_consumers_among. */
int module_consumers_among(
	struct store *store, const char *organization_id, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* Deletes the organization's own modules of that name, with their versions. NULL: any registry, namespace, provider.
 * ERR_NOT_FOUND if there are none. */
int registry_modules_delete(struct store *store, const struct module_address *address, struct err *err);
int registry_module_delete(struct store *store, const char *id, struct err *err);

#endif
