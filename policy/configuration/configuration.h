/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_CONFIGURATION_H
#define POLICY_CONFIGURATION_CONFIGURATION_H

/*
 * The configuration of a policy set (sentinel.hcl) or of a test case.
 * The blocks:
 *
 *	policy "NAME" { source, enforcement_level = "advisory", description, params = {} }
 *	import "module" "NAME" { source }          also module "NAME" { source }
 *	import "static" "NAME" { source, format = "json" }
 *	import "plugin" "NAME" { config = {} }     also import "NAME" { config = {} }
 *	mock "NAME" { data = {} }                  or mock "NAME" { module { source } }
 *	param "NAME" { value }
 *	global "NAME" { value }
 *	test { rules = {} }
 *	sentinel { features = {} }
 *
 * The same as JSON, and the older JSON form of test cases. Sources are not looked at before they are used, so that a
 * wrong one is an error of its users alone.
 */

#include <stdbool.h>

#include "policy/configuration/files.h"
#include "policy/evaluate/evaluate.h"
#include "policy/values/value.h"

struct policy_entry {
	const char *name;
	const char *source;            /* "./NAME.sentinel" unless given */
	const char *enforcement_level; /* "advisory" unless given */
	const char *description;       /* "" unless given */
	struct value params;           /* a map */
	struct place place;
	struct policy_entry *next;
};

enum import_kind { IMPORT_MODULE, IMPORT_STATIC, IMPORT_PLUGIN, IMPORT_DATA };

enum import_state { IMPORT_NEW, IMPORT_LOADING, IMPORT_LOADED };

/* A module, static data, the configuration of a standard or Terraform import, or a mock: a module or literal data. */
struct import_entry {
	const char *name;
	const char *subject; /* for messages: module "x" */
	enum import_kind kind;
	bool mock;
	const char *source; /* of IMPORT_MODULE and IMPORT_STATIC */
	/* IMPORT_PLUGIN: its `config`, a map. IMPORT_DATA: the data. */
	struct value value;
	bool has_program; /* IMPORT_PLUGIN with a source, which is refused when it is imported */
	struct place place;
	struct import_entry *next;

	/* Of the loader. */
	enum import_state state;
	struct unit *unit;   /* IMPORT_MODULE */
	struct value loaded; /* what the name means */
};

struct configuration {
	const struct source *source; /* of the first file; NULL: there is none */
	const char *folder;          /* to which sources are relative */
	struct policy_entry *policies;
	struct import_entry *imports;
	struct value params, globals; /* maps by name */
	bool has_rules;
	struct value rules; /* what a test expects, by rule */
	bool legacy;        /* an older form is used */
	/* Each a line: "FILE:LINE:COL: warning: …". A list of at most MAX_WARNINGS, and a line that there are more. */
	struct value warnings;
};

/* A configuration without blocks. */
struct configuration *configuration_empty(struct run *run, const char *folder);
/* The configuration in a source. If its name ends with .json it is in the JSON form. The name's folder is the
 * configuration's. */
struct configuration *configuration_parse(struct run *run, const struct source *source);
/* Reads the files of one folder, at paths that the command line gives, ended by NULL. The blocks of the first one and
 * of all others that are no overrides (override.h) are one configuration; the overrides change it in their order. */
struct configuration *configuration_read(
	struct run *run, const struct files *files, const char *const *paths, const struct reader *reader);
/* The policy of that name, or NULL. */
struct policy_entry *configuration_policy(const struct configuration *configuration, const char *name);

enum { MAX_WARNINGS = 100 };

/* Adds a warning. */
void configuration_warn(struct run *run, struct configuration *configuration, struct place place, const char *format,
	...) __attribute__((format(printf, 4, 5)));

#endif
