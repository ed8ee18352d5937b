/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_AUDIT_EXPORTER_H
#define SCHEDULER_BACKGROUND_AUDIT_EXPORTER_H

/* The thread that sends the events of the audit trail to collectors (audit_exports.h): to a syslog server,
 * and to a topic of Kafka by the outbox. */

#include "scheduler/background/audit/syslog.h"
#include "scheduler/store/store.h"

struct publisher;

struct audit_exporter_spec {
	struct store store; /* without a connection */
	const char *database_url;
	struct syslog_settings syslog; /* url: "" for none */
	bool cef;                      /* of syslog: CEF instead of JSON */
	const char *topic;             /* "" for none */
	struct publisher *publisher;
};

struct audit_exporter;
/* *ret_exporter is NULL if there is no collector. */
int audit_exporter_start(const struct audit_exporter_spec *spec, struct audit_exporter **ret_exporter, struct err *err);
void audit_exporter_stop(struct audit_exporter *exporter);

#endif
