/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

/*
 * JSON lines on standard error. A line has the fields ts, level, process, name, event and msg, then the fields that
 * the caller gives as pairs of name and text. A NULL text leaves the pair out. A run's id has the field name "run".
 * Secrets must never be passed in.
 *
 *     log_warn("disk low: no jobs are claimed", "data-dir", path, NULL);
 *
 * A message is a literal and begins with the name of its event. The name ends at the first of ":,;" or at the end.
 * The line has it as "event", with hyphens and without an article: "disk-low". No other line of the process has the
 * same event (tests/lint/events).
 *
 * A warning or an error is written at most once a second for each message and cause. The cause is the value of the
 * field "why", "error" or "reason", or all fields of a line without these. The field "count" of the next line that
 * is written says how many lines it stands for. A line with a "count" of its caller is always written.
 */

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR, LOG_LEVELS };

/* Must be called before there are threads. `process` ("worker") and `name` are borrowed for good. `name` identifies
 * one process of its kind, or is NULL. */
void log_setup(const char *process, const char *name, enum log_level least);
/* "debug", "info", "warn", "error"; -1 for anything else. */
int log_level_parse(const char *name);

enum { LOG_EVENT_SIZE = 64 };
/* The name of the event that a message begins with. */
void log_event(const char *message, char ret_event[LOG_EVENT_SIZE]);

void log_line(enum log_level level, const char *message, ...) __attribute__((sentinel));

#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)

#endif
