/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_LOADER_H
#define POLICY_CONFIGURATION_LOADER_H

/*
 * Loads a policy with all that it imports, ready for unit_evaluate.
 *
 * An import is looked up in this order: mocks, other imports of the configuration, standard imports, Terraform imports.
 * A Terraform import whose file the command line names comes before all.
 * A module or mock is loaded once for a policy's run: all importers share it. "people/dogs" goes into the static data
 * "people".
 *
 * A parameter's value comes from the command line, the policy's block, the configuration's `param`, or its default.
 */

#include "policy/configuration/configuration.h"
#include "policy/configuration/terraform.h"

enum { MAX_MODULES = 1000, MAX_IMPORT_DEPTH = 64 };

/* A name with a value, of the command line: -param k=v. */
struct setting {
	const char *name, *text;
	bool literal; /* the text is a literal (hcl_literal); else a string */
	struct setting *next;
};

/* Of the command line. Borrowed. */
struct load_settings {
	struct files files;
	const struct setting *params, *globals;
	struct terraform_paths terraform;
	const struct http_transport *http; /* NULL: no requests */
};

/* The policy that is loaded. */
struct policy_file {
	const char *name; /* as messages name the file */
	struct file file;
	const struct value *params; /* of the policy's block, a map; or NULL */
};

/* Fails (core/run.h) if a file can't be read or parsed, or an import is not known. The configuration's entries are
 * filled in. Adds warnings to the configuration. */
struct unit *loader_load(struct run *run, const struct load_settings *settings, struct configuration *configuration,
	const struct policy_file *policy);

/* The value of a setting's text, for this run. */
struct value setting_value(struct run *run, const struct setting *setting);

#endif
