/* SPDX-License-Identifier: MPL-2.0 */
#include "common/log.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/http/rate.h"
#include "common/text.h"

enum { LINE_SIZE = 8192, FIELD_SIZE = 2048, RECENT_LINES = 64, REPEAT_MS = 1000 };

static const char *process_name = "runyard", *own_name;
static enum log_level least_level = LOG_INFO;
static const char *const level_names[LOG_LEVELS] = {"debug", "info", "warn", "error"};

void log_setup(const char *process, const char *name, enum log_level least)
{
	own_name = name;
	process_name = process;
	least_level = least;
}

int log_level_parse(const char *name)
{
	for (int i = 0; i < LOG_LEVELS; i++)
		if (text_equal(name, level_names[i]))
			return i;
	return -1;
}

struct line {
	char text[LINE_SIZE];
	size_t len;
};

static void line_char(struct line *line, char c)
{
	/* Reserves space for the closing quote, brace and line end. */
	if (line->len < sizeof(line->text) - 4)
		line->text[line->len++] = c;
}

static void line_escaped(struct line *line, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; text[i] && i < FIELD_SIZE; i++) {
		unsigned char c = (unsigned char)text[i];

		if (line->len > sizeof(line->text) - 16)
			return;
		if (c == '"' || c == '\\') {
			line_char(line, '\\');
			line_char(line, (char)c);
		} else if (c < 0x20 || c == 0x7f) {
			const char escape[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

			for (size_t k = 0; k < sizeof(escape); k++)
				line_char(line, escape[k]);
		} else {
			line_char(line, (char)c);
		}
	}
}

static void line_field(struct line *line, const char *name, const char *value)
{
	/* A field that does not fit is left out, so that every line is valid JSON. */
	if (line->len + strlen(name) + 32 > sizeof(line->text))
		return;
	line_char(line, line->len > 1 ? ',' : ' ');
	line_char(line, '"');
	line_escaped(line, name);
	line_char(line, '"');
	line_char(line, ':');
	line_char(line, '"');
	line_escaped(line, value);
	line->text[line->len++] = '"';
}

/* ---- the event ---- */

void log_event(const char *message, char ret_event[LOG_EVENT_SIZE])
{
	static const char *const articles[] = {"a ", "an ", "the ", NULL};
	size_t len = 0;

	for (size_t i = 0; articles[i]; i++)
		if (text_starts(message, articles[i])) {
			message += strlen(articles[i]);
			break;
		}
	for (; *message && !strchr(":,;", *message) && len + 1 < LOG_EVENT_SIZE; message++) {
		if (isalnum((unsigned char)*message))
			ret_event[len++] = (char)tolower((unsigned char)*message);
		else if (*message != '\'' && len > 0 && ret_event[len - 1] != '-')
			ret_event[len++] = '-';
	}
	while (len > 0 && ret_event[len - 1] == '-')
		len--;
	ret_event[len] = '\0';
}

/* ---- repeated lines ---- */

/* The lines of the last second, by a hash of message and cause. If the table is full, further lines are not
 * suppressed. */
static struct recent {
	uint64_t key; /* 0: none */
	struct rate rate;
} recent[RECENT_LINES];
static pthread_mutex_t recent_lock = PTHREAD_MUTEX_INITIALIZER;
static const struct rate_limit recent_limit = {1, REPEAT_MS};

/* Separates the texts: "ab", "c" differs from "a", "bc". */
static uint64_t hash_add(uint64_t hash, const char *text)
{
	return text_hash(hash, text) * 0x100000001b3;
}

static bool is_cause(const char *name)
{
	return text_equal(name, "why") || text_equal(name, "error") || text_equal(name, "reason");
}

/* 0 if the caller gives a "count" of its own. */
static uint64_t line_key(const char *message, va_list args)
{
	uint64_t whole = hash_add(TEXT_HASH, message), cause = whole;
	bool caused = false;
	const char *name;

	while ((name = va_arg(args, const char *))) {
		const char *value = va_arg(args, const char *);

		if (text_equal(name, "count"))
			return 0;
		if (!value)
			continue;
		whole = hash_add(hash_add(whole, name), value);
		if (!is_cause(name))
			continue;
		cause = hash_add(cause, value);
		caused = true;
	}
	return caused ? cause : whole;
}

/* Under the lock. Returns the entry of the key, or one whose second is over, or NULL. */
static struct recent *recent_find(uint64_t key, int64_t now)
{
	struct recent *over = NULL;

	for (size_t i = 0; i < RECENT_LINES; i++) {
		if (recent[i].key == key)
			return &recent[i];
		if (!over && now >= recent[i].rate.window_end_ms)
			over = &recent[i];
	}
	if (over)
		*over = (struct recent){.key = key};
	return over;
}

/* Returns whether the line is written, and how many lines it stands for, if that is known. */
static bool line_is_due(uint64_t key, char ret_count[RATE_COUNT_SIZE])
{
	int64_t now = clock_mono_ms();
	struct recent *entry;
	bool due = true;

	if (!key)
		return true;
	pthread_mutex_lock(&recent_lock);
	entry = recent_find(key, now);
	if (entry)
		due = rate_line_due(&entry->rate, &recent_limit, now, ret_count);
	pthread_mutex_unlock(&recent_lock);
	return due;
}

/* ---- one line ---- */

static void line_begin(struct line *line, enum log_level level, const char *message)
{
	char now[CLOCK_TEXT_SIZE], event[LOG_EVENT_SIZE];

	log_event(message, event);
	line_field(line, "ts", clock_text(clock_wall_us(), now));
	line_field(line, "level", level_names[level]);
	line_field(line, "process", process_name);
	if (own_name)
		line_field(line, "name", own_name);
	line_field(line, "event", event);
	line_field(line, "msg", message);
}

static void line_end(struct line *line)
{
	line->text[line->len++] = '}';
	line->text[line->len++] = '\n';
	/* One write, so that lines of several threads do not mix. An error can't be reported anywhere. */
	if (write(STDERR_FILENO, line->text, line->len) < 0)
		return;
}

void log_line(enum log_level level, const char *message, ...)
{
	struct line line = {.text = "{", .len = 1};
	char count[RATE_COUNT_SIZE] = "1";
	const char *name;
	va_list args;
	bool due;

	if (level < least_level)
		return;
	va_start(args, message);
	due = level < LOG_WARN || line_is_due(line_key(message, args), count);
	va_end(args);
	if (!due)
		return;
	line_begin(&line, level, message);
	va_start(args, message);
	while ((name = va_arg(args, const char *))) {
		const char *value = va_arg(args, const char *);

		if (value)
			line_field(&line, name, value);
	}
	va_end(args);
	if (!text_equal(count, "1"))
		line_field(&line, "count", count);
	line_end(&line);
}
