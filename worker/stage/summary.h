/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_SUMMARY_H
#define WORKER_STAGE_SUMMARY_H

/* Extracts the counts and the first error from the engine's log lines, JSON or plain. Pure. */

#include "proto/messages.h"

/* Fills the counts or the error from one line, if the line has any. */
void summary_line(const char *line, size_t len, struct job_result *result);
/* The same for a line of the tests of a module. The numbers of tests that passed, failed, errored and were skipped are
 * the additions, changes, destructions and imports of the result. */
void summary_test_line(const char *line, size_t len, struct job_result *result);
/* Whether the line reports a created, changed or destroyed resource. `line` ends with a zero byte. */
bool summary_line_changes(const char *line, size_t len);
/* The first error in a plain output ("Error: ..."), or "". `ret_text` is cut to its size. */
void summary_first_error(const char *text, char *ret_text, size_t size);

#endif
