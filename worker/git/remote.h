/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_REMOTE_H
#define WORKER_GIT_REMOTE_H

/* The addresses of repositories: which may be used at all, and where they lead. Pure. */

#include "common/base.h"

enum { REMOTE_URL_MAX = 2048, REMOTE_HOST_MAX = 254 };

enum remote_scheme { REMOTE_HTTPS, REMOTE_HTTP, REMOTE_SSH, REMOTE_GIT, REMOTE_SCHEMES };

struct remote {
	enum remote_scheme scheme;
	char host[REMOTE_HOST_MAX]; /* in lower case, without brackets */
	int port;
	bool with_user; /* the URL names a user, as ssh needs it */
};

/* "https". */
const char *remote_scheme_name(enum remote_scheme scheme);
/*
 * Reads SCHEME://[USER@]HOST[:PORT]/PATH. False for everything else: other schemes and transports ("ext::", "file://"),
 * paths, the short form of ssh, passwords, and hosts, users and paths with characters that a program could read as
 * something else.
 */
bool remote_parse(const char *url, struct remote *ret_remote);
/* The URL of a submodule, as .gitmodules has it, of the repository at `url`: it may be relative ("../modules.git"), and
 * may have the short form of ssh ("git@host:path"). Returns an absolute URL to be freed, or NULL. */
char *remote_resolve(const char *url, const char *submodule);
/* Whether both are at the same host and port with the same scheme: then the credential of one is for the other. */
bool remote_same_server(const struct remote *a, const struct remote *b);

#endif
