/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPLORER_EXPLORER_FACTS_H
#define SCHEDULER_STORE_EXPLORER_EXPLORER_FACTS_H

/* The explorer's rows of one workspace, made of its state and of what its configuration uses. No I/O. */

#include "common/json/json.h"
#include "scheduler/db/db.h"

/* The most rows of a workspace. They limit what one tenant's state costs: 50,000 resources are written within seconds.
 * A larger state is shown in part (explorer_workspaces.is_cut). */
enum { EXPLORER_MAX_RESOURCES = 50000, EXPLORER_MAX_PACKAGES = 1000 };

struct explorer_facts {
	struct db_array addresses, types, names, modules, providers, billable; /* of resources */
	struct db_array kinds, sources, versions, package_names, registries;   /* of modules and providers */
	long long resources, packages;
	bool is_cut;
};

void explorer_facts_init(struct explorer_facts *facts);
void explorer_facts_release(struct explorer_facts *facts);
/* Adds the instances of a state (state_instances). */
void explorer_facts_add_resources(struct explorer_facts *facts, const json_t *instances);
/* Adds {"modules": [{source, version}], "providers": [{source, version}]} of a configuration, which may be NULL, and
 * the providers of the instances that it does not name. */
void explorer_facts_add_packages(struct explorer_facts *facts, const json_t *packages, const json_t *instances);

/* A module or provider as it is shown. */
struct explorer_package {
	char *source;         /* without a public registry's host, credentials and queries; owned */
	char *name;           /* owned */
	char *version;        /* owned */
	const char *registry; /* public, private, or NULL */
};
void explorer_package_read(
	const char *kind, const char *source, const char *version, struct explorer_package *ret_package);
void explorer_package_release(struct explorer_package *package);

#endif
