/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_TAGS_REGEX_H
#define SCHEDULER_VCS_TAGS_REGEX_H

/* A workspace's tags-regex. It comes from users, so its size, its steps and its memory are limited. Pure. */

#include "common/base.h"

struct err;

enum { TAGS_REGEX_MAX = 1024 }; /* bytes of a pattern */

enum tags_regex_match {
	TAGS_REGEX_NO,
	TAGS_REGEX_YES,
	TAGS_REGEX_LIMIT, /* A limit was met (or the pattern is not valid): it counts as no match, and is an error
			     event. */
};

/* -1 with ERR_INVALID, and a sentence that says where the pattern is wrong. */
int tags_regex_check(const char *pattern, struct err *err);
/* Searches the short name of a tag. The pattern is not anchored. */
enum tags_regex_match tags_regex_match(const char *pattern, const char *tag);

#endif
