/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_HCL_READER_H
#define POLICY_CONFIGURATION_HCL_READER_H

/* Shared by the files of the HCL reader: common/hcl for a run, and its literals as values. All functions fail with the
 * run at an error. */

#include "common/hcl/hcl.h"
#include "policy/values/value.h"

struct literal_reader {
	struct run *run;
	const struct source *source;
	struct hcl_reader hcl;
	size_t counted; /* up to where steps are counted */
};

struct literal_reader reader_begin(struct run *run, const struct source *source);
/* Fails if the reader has failed. Counts steps. */
void reader_check(struct literal_reader *reader);
_Noreturn void reader_fail(struct literal_reader *reader, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void reader_fail_expression(struct literal_reader *reader, size_t offset);
void reader_skip_blanks(struct literal_reader *reader);
/* The text as a string. */
struct value reader_text(const struct literal_reader *reader, const struct hcl_text *text);
/* The text as a name; fails if it has a zero byte. */
const char *reader_name(struct literal_reader *reader, const struct hcl_text *text);
/* Any literal. */
struct value reader_value(struct literal_reader *reader);

#endif
