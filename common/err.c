/* SPDX-License-Identifier: MPL-2.0 */
#define ERR_SOURCE
#include "common/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"

static const struct {
	int status;
	const char *title;
} kinds[] = {
	[ERR_NONE] = {200, "ok"},
	[ERR_MALFORMED] = {400, "bad request"},
	[ERR_UNAUTHORIZED] = {401, "unauthorized"},
	[ERR_FORBIDDEN] = {403, "forbidden"},
	[ERR_NOT_FOUND] = {404, "not found"},
	[ERR_METHOD] = {405, "method not allowed"},
	[ERR_CONFLICT] = {409, "conflict"},
	[ERR_PRECONDITION] = {412, "precondition failed"},
	[ERR_TOO_LARGE] = {413, "too large"},
	[ERR_INVALID] = {422, "invalid attribute"},
	[ERR_UPGRADE] = {426, "upgrade required"},
	[ERR_BUSY] = {429, "Too many requests"},
	[ERR_UNAVAILABLE] = {503, "service unavailable"},
	[ERR_INTERNAL] = {500, "internal error"},
};

static void err_fill(struct err *err, enum err_kind kind, const char *format, va_list args)
{
	memset(err, 0, sizeof(*err));
	err->kind = kind;
	vsnprintf(err->message, sizeof(err->message), format, args);
}

int err_set(struct err *err, enum err_kind kind, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_fill(err, kind, format, args);
	va_end(args);
	return -1;
}

int err_at(struct err *err, const char *pointer, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	err_fill(err, ERR_INVALID, format, args);
	va_end(args);
	text_copy(err->pointer, sizeof(err->pointer), pointer);
	return -1;
}

int err_context(struct err *err, const char *format, ...)
{
	char before[sizeof(err->message)];
	char *both;
	va_list args;

	va_start(args, format);
	vsnprintf(before, sizeof(before), format, args);
	va_end(args);
	both = mem_printf("%s: %s", before, err->message);
	text_copy(err->message, sizeof(err->message), both);
	free(both);
	return -1;
}

int err_errno(struct err *err, const char *what)
{
	char text[128];
	int code = errno;

	return err_set(err, code == ENOENT ? ERR_NOT_FOUND : ERR_INTERNAL, "%s: %s", what,
		strerror_r(code, text, sizeof(text)));
}

const char *err_title(const struct err *err)
{
	return err->title[0] ? err->title : kinds[err->kind].title;
}

int err_http_status(enum err_kind kind)
{
	return kinds[kind].status;
}
