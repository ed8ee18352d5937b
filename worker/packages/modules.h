/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_MODULES_H
#define WORKER_PACKAGES_MODULES_H

/* Finds the files of a folder that an engine reads as configuration, and whether they call modules. It parses the
 * files. */

#include "common/json/json.h"

enum config_syntax {
	CONFIG_NONE,   /* engines do not read the file as configuration */
	CONFIG_NATIVE, /* .tf, .tofu */
	CONFIG_JSON,   /* .tf.json, .tofu.json */
};

/* The syntax that engines use for a file of that name. Pure. */
enum config_syntax config_syntax(const char *name);

/* True if engines merge the file over all others: "override.tf", "x_override.tf.json" and so on. Pure. */
bool config_is_override(const char *name);

/* True if the text calls a module, or can't be parsed. JSON keys are compared after their escapes are resolved. Pure.
 */
bool text_calls_modules(enum config_syntax syntax, const char *text, size_t len);

struct config_file {
	const char *name;
	enum config_syntax syntax;
	const char *text; /* NULL: it can't be read */
	size_t len;
};

/* Calls `match` for the configuration files of a folder until it returns true. Returns true then, or if the folder
 * can't be read. */
bool config_any(int folder, bool (*match)(void *data, const struct config_file *file), void *data);
/* True if a configuration file of the folder calls a module, can't be parsed, or can't be read. */
bool folder_calls_modules(int folder);

#endif
