/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_FIELDS_H
#define SCHEDULER_HTTP_FIELDS_H

/* Tables of attributes that clients set and read. Values are checked by type when read, and have a default when
 * shown. */

#include "scheduler/http/request.h"

enum field_type { FIELD_TEXT, FIELD_BOOL, FIELD_INT, FIELD_TEXTS };

struct field {
	const char *name;
	enum field_type type;
	const char *fallback; /* JSON, shown while no value is set */
};

/* Adds the attributes of the table that the body sets to the object. For texts and lists, null is stored as null. For
 * other types, null counts as not sent. ERR_INVALID with a pointer for a wrong type. */
int fields_read(const struct request *req, const struct field *table, size_t count, json_t *object, struct err *err);
/* Adds every attribute of the table, with the value in `object` or the default. */
void fields_show(const struct field *table, size_t count, const json_t *object, json_t *attributes);

/* An attribute that has no effect: the only accepted value, and the reason. */
struct field_refusal {
	const char *name;
	const char *taken; /* JSON */
	const char *why;
};

/* ERR_INVALID with the reason if the object sets an attribute of the table to another value. null is accepted. */
int fields_refuse(const struct field_refusal *table, size_t count, const json_t *object, struct err *err);

/* ERR_INVALID "<what> is too long ..." at the pointer if the text has more than `max` bytes. The text may be NULL. */
int length_check(const char *what, const char *pointer, const char *text, size_t max, struct err *err);
/* The same for a name in free form, which must not be blank or contain control characters. */
int title_check(const char *what, const char *pointer, const char *text, size_t max, struct err *err);

#endif
