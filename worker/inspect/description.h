/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_INSPECT_DESCRIPTION_H
#define WORKER_INSPECT_DESCRIPTION_H

/* The description of a module while it is made (inspect.h): texts that fit into its bound, and objects by name. */

#include "common/json/json.h"

enum { MAX_NAME_BYTES = 256, MAX_TEXT_BYTES = 8 * 1024, MAX_README_BYTES = 128 * 1024 };

struct description {
	size_t room; /* bytes that may be added */
	bool cut;    /* something was left out */
	char error[512];
};

/* One folder. Each member but the texts is an object by name, in the order of the files. */
struct folder_description {
	struct description *all;
	const char *path, *name; /* borrowed */
	bool empty;
	json_t *readme, *required_version; /* texts */
	json_t *inputs, *outputs, *dependencies, *providers, *resources;
};

/* A place in the module. */
struct place {
	const char *path;
	size_t line; /* 0: of the whole file */
	bool is_override;
};

/* The bytes as a JSON text: at most `max`, with a question mark for each byte that is not UTF-8 or is zero. */
json_t *described_text(struct description *all, const char *bytes, size_t len, size_t max);
/* Keeps the first error. */
void description_fail(struct description *all, const struct place *place, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

void folder_open(struct folder_description *folder, struct description *all, const char *path, const char *name);
/* The description's JSON. Frees the members. */
json_t *folder_close(struct folder_description *folder);
/* The object of that key in `objects`, which is made from `make` if it is missing. A second one is an error, unless the
 * file overrides the others. `what` names the kind. NULL if there is no room. Borrowed. */
json_t *folder_object(struct folder_description *folder, json_t *objects, const char *key, const struct place *place,
	const char *what);
/* Notes that the folder uses a provider by that local name. Returns its object, borrowed, or NULL. */
json_t *folder_provider(struct folder_description *folder, const char *name, const struct place *place);
/* Adds a resource and the provider that its type implies, or `provider`; NULL: none is given. */
struct described_resource {
	const char *mode, *type, *name, *provider;
};
void folder_resource(
	struct folder_description *folder, const struct described_resource *resource, const struct place *place);

/* Reads one configuration. */
void native_read(struct folder_description *folder, const char *text, size_t len, const struct place *place);
void json_read(struct folder_description *folder, const char *text, size_t len, const struct place *place);

#endif
