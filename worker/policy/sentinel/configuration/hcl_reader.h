/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SENTINEL_CONFIGURATION_HCL_READER_H
#define WORKER_POLICY_SENTINEL_CONFIGURATION_HCL_READER_H

/* Shared by the files of the HCL reader: the position in the text, and its literals. */

#include <stdbool.h>

#include "worker/policy/sentinel/core/run.h"
#include "worker/policy/sentinel/values/value.h"

struct hcl_reader {
	struct run *run;
	const struct source *source;
	size_t at;
};

/* The byte at that distance, or 0 behind the end. */
static inline char reader_peek(const struct hcl_reader *reader, size_t ahead)
{
	return reader->at + ahead < reader->source->len ? reader->source->text[reader->at + ahead] : '\0';
}
static inline bool reader_ended(const struct hcl_reader *reader)
{
	return reader->at >= reader->source->len;
}
_Noreturn void reader_fail(const struct hcl_reader *reader, size_t offset, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void reader_fail_expression(const struct hcl_reader *reader, size_t offset);
/* Skips spaces, and comments that end on the same line. */
void reader_skip_spaces(struct hcl_reader *reader);
/* Skips spaces, line ends and comments. */
void reader_skip_blanks(struct hcl_reader *reader);
bool reader_take(struct hcl_reader *reader, char byte);
/* The identifier here, or NULL. */
const char *reader_identifier(struct hcl_reader *reader);
/* The quoted string here. */
struct value reader_string(struct hcl_reader *reader);
/* The heredoc here, up to its closing marker. */
struct value reader_heredoc(struct hcl_reader *reader);
/* Any literal. */
struct value reader_value(struct hcl_reader *reader);
/* The string as a C text; fails if it has a zero byte. */
const char *reader_text(const struct hcl_reader *reader, size_t offset, struct value string);

#endif
