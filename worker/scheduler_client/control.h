/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_CONTROL_H
#define WORKER_SCHEDULER_CLIENT_CONTROL_H

/*
 * Receives stop requests: from the broker (control_topic.h) and by a long poll (proto/README.md, `POST control`).
 *
 * While this worker has a job, one request is under way, with or without a broker. The scheduler answers it as soon as
 * there is a stop. So a stop whose broker message was lost arrives this way. A stop that was requested while the
 * worker was disconnected arrives when it reconnects. A lost answer loses no stop, because each request acknowledges
 * the stops of the last answer.
 */

#include "proto/messages.h"

struct control;
struct worker;

struct control *control_new(struct worker *worker);
void control_free(struct control *control);
/* Reads the topic, and sends the request unless one is under way. To be called when there is a job. */
void control_listen(struct control *control);
/* The stop that the scheduler has announced for an attempt. It may have arrived before the answer that brought the
 * job was read. */
enum stop control_told(const struct control *control, const char *job, int attempt);

#endif
