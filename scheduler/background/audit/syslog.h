/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_AUDIT_SYSLOG_H
#define SCHEDULER_BACKGROUND_AUDIT_SYSLOG_H

/* A connection to a syslog collector, over TLS or plain TCP. Each call waits for at most ten seconds. */

#include "common/buf.h"
#include "common/err.h"

struct syslog_settings {
	const char *url;               /* tls://host:port or tcp://host:port */
	const char *ca_file;           /* PEM: the CAs of the collector's certificate; "": the system's */
	const char *certificate, *key; /* PEM files that identify this client; "": none */
};

/* ERR_INVALID for a URL of another form. */
int syslog_settings_check(const struct syslog_settings *settings, struct err *err);

struct syslog;
struct syslog *syslog_new(const struct syslog_settings *settings);
void syslog_free(struct syslog *syslog);
/*
 * Sends the bytes, over a new connection if there is none. Returns 0 once the collector's TCP has acknowledged all of
 * them and the connection is still open: syslog has no acknowledgement of its own. After an error the connection is
 * closed, and the caller sends the same bytes again.
 */
int syslog_send(struct syslog *syslog, const struct buf *bytes, struct err *err);

#endif
