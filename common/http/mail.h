/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_MAIL_H
#define COMMON_HTTP_MAIL_H

/* Formats an Internet mail, and sets up a libcurl handle that sends it. */

#include <time.h>

#include "common/json/json.h"

struct mail {
	const char *id; /* a repeated mail has the same Message-ID */
	const char *from;
	const char *subject;
	const json_t *to; /* addresses; invalid ones are left out */
	const char *text; /* UTF-8 */
	time_t at;
};

/* Returns the number of valid addresses. */
size_t mail_recipients(const json_t *to);
/* The message with its headers and with CRLF line ends. The caller frees it. */
char *mail_write(const struct mail *mail);

enum mail_tls { MAIL_TLS_REQUIRED, MAIL_TLS_TRIED, MAIL_TLS_NONE };

/* A mail server. All texts are borrowed; none is NULL. */
struct mail_server {
	const char *url; /* smtp://host:port or smtps://host:port */
	const char *from;
	const char *user, *password; /* user: "" for no login */
	const char *login;           /* "plain", "login", or "" for what the server prefers */
	enum mail_tls tls;           /* of smtp:// */
};

/* The server of the site's settings, as a claim names it (proto/README.md). Borrowed from the object. */
struct mail_server mail_server_of(const json_t *named);
/* Sets the server's options of a libcurl handle: url, TLS, login and sender. The caller sets the recipients, the
 * message, the timeouts and the guard. */
void mail_server_set(void *easy, const struct mail_server *server);

/* A message that libcurl reads: CURLOPT_READFUNCTION is mail_read, CURLOPT_READDATA the source. */
struct mail_source {
	char *text; /* owned */
	size_t len, read;
};
/* Takes the text. */
struct mail_source mail_source_of(char *text);
size_t mail_read(char *bytes, size_t size, size_t count, void *source);

#endif
