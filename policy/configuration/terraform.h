/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_TERRAFORM_H
#define POLICY_CONFIGURATION_TERRAFORM_H

/*
 * The Terraform imports read a plan or a run; those of before tfplan/v2 also the provider schemas, if there are any.
 * The flags -plan, -tfrun and -schemas name the files, or else the `config` of an `import "plugin"`. The flags' files
 * may be outside of the root.
 */

#include "policy/configuration/configuration.h"

/* The files that the command line names. Borrowed. */
struct terraform_paths {
	const char *plan, *run, *schemas; /* or NULL */
};

struct terraform_import;

/* The import of that name ("tfplan/v2"), or NULL. */
const struct terraform_import *terraform_find(const char *name, size_t len);
/* True if the command line names the import's file. It then comes before mocks and plugins. */
bool terraform_is_given(const struct terraform_import *import, const struct terraform_paths *paths);
/* Makes the import. `plugin` is the block that configures it, or NULL; its path is relative to `folder`. Fails if there
 * is no file for it. */
struct value terraform_load(struct run *run, const struct terraform_import *import, const struct terraform_paths *paths,
	const struct files *files, const char *folder, const struct import_entry *plugin);

#endif
