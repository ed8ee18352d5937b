/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_MODULE_REPOSITORIES_H
#define SCHEDULER_STORE_REGISTRY_MODULE_REPOSITORIES_H

/* Modules whose versions come from a repository (module_tags.h). */

#include "scheduler/store/registry/modules.h"
#include "scheduler/store/vcs/repositories.h"

/* Adds a module of the organization, as registry_module_create does. `use`: its connection, identifier and branch; "":
 * the tags are the versions. `version`: the first one of a branch, from its head. A module may be a folder of its
 * repository (source_directory), and its tags may begin with a prefix: several modules then share the repository. */
int registry_module_create_connected(struct store *store, const struct module_address *address,
	const struct vcs_use *use, const char *version, struct id *ret_id, struct err *err);
/* Sets the branch, the folder and the prefix of a module with a repository. Versions that are there stay. */
int registry_module_set_source(struct store *store, const char *id, const struct vcs_use *use, struct err *err);

#endif
