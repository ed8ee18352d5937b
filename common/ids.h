/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_IDS_H
#define COMMON_IDS_H

/* Ids have the API's form: a prefix, a hyphen and 16 characters of [A-Za-z0-9] ("run-CZcmD7eagjhyX0vN"). */

#include "common/base.h"

#define ID_SIZE 40 /* the longest prefix, the hyphen, 16 characters, the zero byte */

struct id {
	char text[ID_SIZE];
};

/* Returns a new random id. The prefix has no hyphen ("run"). */
struct id id_new(const char *prefix);
/* True if the text has the form of an id with that prefix. */
bool id_valid(const char *text, const char *prefix);
/* The id with the same random part: "plan-X" or "apply-X" for "run-X". */
struct id id_sibling(const char *id, const char *prefix);

#endif
