/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_VCS_PAYLOAD_H
#define SCHEDULER_VCS_PAYLOAD_H

/*
 * Reads the payloads that providers send to hooks. A payload comes from outside: texts are cut to a bound, and a
 * member of a wrong type, a ref or a sha that is not valid is an error. Pure.
 */

#include "common/vcs/dialect.h"
#include "scheduler/vcs/event.h"

struct err;

/*
 * Reads the events of a payload; `name` is the delivery's event (vcs_delivery_name). No events: the payload is not
 * interesting. -1 with ERR_INVALID, and a sentence that names the member. `ret_events` must be VCS_EVENTS_INIT; it is
 * unchanged on failure.
 */
int vcs_payload_read(
	enum vcs_dialect dialect, const char *name, const json_t *body, struct vcs_events *ret_events, struct err *err);

#endif
