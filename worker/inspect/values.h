/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_INSPECT_VALUES_H
#define WORKER_INSPECT_VALUES_H

/* The attributes of variables, outputs, calls of modules and providers, whatever the syntax of their file is. */

#include "worker/inspect/description.h"

/* The value of an attribute. */
struct described_value {
	const char *source; /* as it stands in the file, or its JSON; borrowed */
	size_t len;
	char *string; /* if it is a text without expressions; owned */
};
void described_value_release(struct described_value *value);

/* The object of attributes; NULL if there is no room for it. */
struct described_object {
	struct folder_description *folder;
	json_t *object;
};

struct described_kind {
	/* The object of that name. Borrowed, or NULL. */
	json_t *(*begin)(struct folder_description *folder, const char *name, const struct place *place);
	void (*attribute)(void *described_object, const char *name, const struct described_value *value);
};
extern const struct described_kind described_variable, described_output, described_call, described_provider;

/* An attribute of a provider, or one of the block terraform (data: struct folder_description). */
void provider_attribute(void *described_object, const char *name, const struct described_value *value);
void settings_attribute(void *folder, const char *name, const struct described_value *value);

#endif
