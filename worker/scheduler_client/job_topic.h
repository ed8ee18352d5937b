/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_JOB_TOPIC_H
#define WORKER_SCHEDULER_CLIENT_JOB_TOPIC_H

/*
 * Reads the job messages of the worker's pool from Kafka. Without brokers these functions do nothing.
 *
 * A job message announces that a job waits. It causes a claim, and its offset is stored when the claim is answered.
 * Job messages that arrive during a claim belong to the next claim. While it is paused, no messages are read.
 */

#include "common/json/json.h"

struct job_topic;
struct worker;

/* `arrived` is called when job messages were read. */
struct job_topic *job_topic_new(struct worker *worker, void (*arrived)(void *data), void *data);
void job_topic_free(struct job_topic *topic);
/* Starts to read the pool's topic. To be called again if the topic has changed. */
void job_topic_subscribe(struct job_topic *topic, const char *name, const char *pool);
/* To be called when a claim was sent: it covers all job messages read so far. */
void job_topic_claimed(struct job_topic *topic);
/* To be called when the claim was answered: stores the offsets of its job messages. */
void job_topic_answered(struct job_topic *topic);
/* Reads on, or pauses while there is no free slot. */
void job_topic_go_on(struct job_topic *topic);
/* The partitions that are assigned to this worker. A new reference. */
json_t *job_topic_partitions(const struct job_topic *topic);

#endif
