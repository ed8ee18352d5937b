/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_AUDIT_AUDIT_EXPORTS_H
#define SCHEDULER_BACKGROUND_AUDIT_AUDIT_EXPORTS_H

/*
 * The export of the audit trail to collectors. From when a sink is registered, each transaction that writes an event
 * also writes that the sink lacks it (a trigger). An event is forgotten after it was sent, so it is sent at least once,
 * about in the order of its commit. One scheduler at a time sends: it holds the sink's lease.
 */

#include "scheduler/store/store.h"

#define AUDIT_SINK_SYSLOG "syslog"
#define AUDIT_SINK_KAFKA  "kafka"

int audit_sink_register(struct store *store, const char *sink, struct err *err);
/* Takes or extends the lease for so many seconds. *ret_held is false while another scheduler has it. */
int audit_sink_hold(
	struct store *store, const char *sink, const char *holder, int seconds, bool *ret_held, struct err *err);
int audit_sink_release(struct store *store, const char *sink, const char *holder, struct err *err);
/* Whether the sink lacks an event: without the lease. */
int audit_unsent_any(struct store *store, const char *sink, bool *ret_any, struct err *err);
/* Up to `max` events that the sink lacks, in their order: the shape `audit_unsent`. */
int audit_unsent_read(struct store *store, const char *sink, long long max, struct rows *ret_rows, struct err *err);
/* Forgets the events of these rows, which were sent. */
int audit_unsent_done(struct store *store, const char *sink, const struct rows *rows, struct err *err);
/* Notes why the sink's events can't be sent; "": they can. */
int audit_sink_note(struct store *store, const char *sink, const char *error, struct err *err);

/* All sinks, with what they lack: columns name, unsent, oldest_at, sent_at, error. */
int audit_sinks_list(struct store *store, struct rows *ret_rows, struct err *err);
/* Ends an export, and forgets what was not sent. ERR_NOT_FOUND. */
int audit_sink_end(struct store *store, const char *sink, struct err *err);

#endif
