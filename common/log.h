/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

/*
 * One JSON object a line on standard error: ts, level, process, msg, then the fields given as pairs of name and
 * text (a NULL text leaves the pair out). Fields with a run carry it as "run". Secrets are never passed in.
 *
 *     log_info("job claimed", "run", run_id, "stage", "plan", NULL);
 */

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

/* Once, before the first line. `process` is borrowed for good ("scheduler"). */
void log_setup(const char *process, enum log_level least);
/* "debug", "info", "warn", "error"; -1 for anything else. */
int log_level_parse(const char *name);

void log_line(enum log_level level, const char *message, ...) __attribute__((sentinel));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
