/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_ERR_H
#define COMMON_ERR_H

/*
 * Errors are values. A function that can fail returns -1 and fills *err. The caller at the edge (an HTTP answer, a
 * log line, an exit code) decides what the kind means there. The message is one sentence for a person, never a
 * secret.
 */

enum err_kind {
	ERR_NONE,
	ERR_MALFORMED,    /* can't be parsed: 400 */
	ERR_UNAUTHORIZED, /* no valid token: 401 */
	ERR_FORBIDDEN,    /* 403, in the few places where the API names it */
	ERR_NOT_FOUND,    /* does not exist, or is not visible to this actor: 404 */
	ERR_METHOD,       /* the address exists, but not with this method: 405 */
	ERR_CONFLICT,     /* the state does not allow it: 409 */
	ERR_PRECONDITION, /* likewise, in the few places where the API uses 412 */
	ERR_TOO_LARGE,    /* over a size limit: 413 */
	ERR_INVALID,      /* parsed, but not valid: 422 with a pointer to the field */
	ERR_UPGRADE,      /* the other process is of a version that can't be spoken with: 426 */
	ERR_BUSY,         /* over a limit at the moment: 429 */
	ERR_UNAVAILABLE,  /* a server that this process needs does not answer: 503; retry later */
	ERR_INTERNAL,     /* an error in this process: 500 */
};

struct err {
	enum err_kind kind;
	char title[64];    /* JSON:API title; empty: the kind's default */
	char message[512]; /* JSON:API detail, or the log's line */
	char pointer[128]; /* JSON pointer to the offending field, or empty */
};

#define ERR_INIT                                                                                                       \
	{                                                                                                              \
		.kind = ERR_NONE                                                                                       \
	}

/* Fills *err and returns -1, so that a function can fail with `return err_set(...)`. */
int err_set(struct err *err, enum err_kind kind, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets ERR_INVALID with a pointer to a field of the request: "/data/attributes/name". Returns -1. */
int err_at(struct err *err, const char *pointer, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Prepends "<text>: " to the message. Returns -1. */
int err_context(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Sets ERR_INTERNAL or ERR_UNAVAILABLE with the text of errno. Returns -1. */
int err_errno(struct err *err, const char *what);
#if defined(__clang_analyzer__) && !defined(ERR_SOURCE) /* it sees one source, and not what these return */
#define err_set(...)     ((err_set)(__VA_ARGS__), -1)
#define err_at(...)      ((err_at)(__VA_ARGS__), -1)
#define err_context(...) ((err_context)(__VA_ARGS__), -1)
#define err_errno(...)   ((err_errno)(__VA_ARGS__), -1)
#endif
/* The title that the API shows: "not found". */
const char *err_title(const struct err *err);
/* The kind's HTTP status. */
int err_http_status(enum err_kind kind);

#endif
