/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_LIBRARY_VERSION_H
#define POLICY_LIBRARY_VERSION_H

/*
 * Versions as Terraform has them: Semantic Versioning, where numbers at the end may be left out and a "v" may stand
 * before. Constraints are comparisons, separated by commas, that all hold.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { VERSION_NUMBERS = 3, VERSION_LABEL_SIZE = 256, VERSION_TEXT_SIZE = 640 };

struct version {
	int64_t numbers[VERSION_NUMBERS]; /* what is left out is 0 */
	unsigned given;                   /* how many numbers the text had */
	char prerelease[VERSION_LABEL_SIZE];
	char metadata[VERSION_LABEL_SIZE];
};

/* False if the text is no version. */
bool version_parse(const char *text, size_t len, struct version *ret_version);
/* Formats with all three numbers. Returns `text`. */
char *version_text(const struct version *version, char text[VERSION_TEXT_SIZE]);
/* -1, 0, 1. Metadata does not count. */
int version_compare(const struct version *a, const struct version *b);
/* 1 if all constraints hold, 0 if one does not, -1 if they are no constraints. Operators: = != > >= < <= ~>, none is =.
 * A prerelease fulfils only constraints that have a prerelease of the same numbers. */
int version_satisfies(const struct version *version, const char *constraints, size_t len);

#endif
