/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_AUDIT_EVENT_TEXT_H
#define SCHEDULER_BACKGROUND_AUDIT_EVENT_TEXT_H

/* An event of the audit trail as collectors read it. */

#include "common/buf.h"
#include "scheduler/background/audit/audit_exports.sql.h"

/* One line of JSON. The caller frees it. */
char *event_json(const struct audit_unsent_row *event);
/* One line in the Common Event Format (CEF:0). The caller frees it. */
char *event_cef(const struct audit_unsent_row *event);
/* Appends a syslog message (RFC 5424) with that text, counted as RFC 6587 has it. Its facility is 13, log audit. */
void event_frame(struct buf *out, const struct audit_unsent_row *event, const char *host, const char *text);

#endif
