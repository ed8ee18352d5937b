/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_CONTROL_TOPIC_H
#define WORKER_SCHEDULER_CLIENT_CONTROL_TOPIC_H

/*
 * Receives stop requests from the topic runyard.control. The topic is paused without a job: there is nothing to stop,
 * and it has the stops of all workers. A stop that is published before the worker reads the topic again arrives over
 * HTTP (control.h).
 */

struct control_topic;
struct worker;

/* Without brokers it does nothing. */
struct control_topic *control_topic_new(struct worker *worker);
void control_topic_free(struct control_topic *topic);
/* To be called when there is a job. */
void control_topic_listen(struct control_topic *topic);

#endif
