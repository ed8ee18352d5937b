/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_SUMMARY_H
#define WORKER_STAGE_SUMMARY_H

/* What the engine's log lines, JSON or plain, say about the outcome: the numbers, and the first error. Pure. */

#include "proto/messages.h"

/* Fills the numbers or the error from one line, if it says such a thing. */
void summary_line(const char *line, size_t len, struct job_result *result);
/* Whether the line says that the engine made, changed or destroyed a resource. `line` ends with a zero byte. */
bool summary_line_changes(const char *line, size_t len);
/* The first error in a plain output ("Error: ..."), or "". `ret_text` is cut to its size. */
void summary_first_error(const char *text, char *ret_text, size_t size);

#endif
