/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_CONTROL_H
#define WORKER_CONTROL_H

/*
 * What is to stop, asked for by a request that the scheduler answers as soon as there is something (proto/README.md,
 * `POST control`). It waits whenever this worker has a job, with a broker or without: a stop that came by no message
 * comes this way, and one that was asked for while the worker was away comes as soon as it is back. What is told is
 * never lost with an answer: each request says what the last one told.
 */

#include "proto/messages.h"

struct control;
struct worker;

struct control *control_new(struct worker *worker);
void control_free(struct control *control);
/* There is a job: asks, unless it does. */
void control_listen(struct control *control);
/* What the scheduler has told of an attempt, perhaps before the answer that brought the job was read. */
enum stop control_told(const struct control *control, const char *job, int attempt);

#endif
