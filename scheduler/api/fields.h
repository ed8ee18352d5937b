/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_FIELDS_H
#define SCHEDULER_API_FIELDS_H

/* Attributes that clients set and read back, as a table: checked by type on the way in, with a default on the way out.
 */

#include "scheduler/api/api.h"

enum field_type { FIELD_TEXT, FIELD_BOOL, FIELD_INT, FIELD_TEXTS };

struct field {
	const char *name;
	enum field_type type;
	const char *fallback; /* JSON, shown as long as nothing was set */
};

/* Adds those of the table that the body sets to the object. null stays null for texts and lists, and counts as not
 * sent for the others. ERR_INVALID with a pointer for a wrong type. */
int fields_read(const struct request *req, const struct field *table, size_t count, json_t *object, struct err *err);
/* Adds every attribute of the table, as `object` has it or by default. */
void fields_show(const struct field *table, size_t count, const json_t *object, json_t *attributes);

/* An attribute that nothing acts on: the one value that is taken, and why no other is. */
struct field_refusal {
	const char *name;
	const char *taken; /* JSON */
	const char *why;
};

/* ERR_INVALID with the reason if the object sets one of the table to another value. null is taken, too. */
int fields_refuse(const struct field_refusal *table, size_t count, const json_t *object, struct err *err);

/* ERR_INVALID "<what> is too long ..." at the pointer for a text (or NULL) of more bytes. */
int length_check(const char *what, const char *pointer, const char *text, size_t most, struct err *err);
/* The same for a name in free form, which can't be blank either, nor have control characters. */
int title_check(const char *what, const char *pointer, const char *text, size_t most, struct err *err);

#endif
