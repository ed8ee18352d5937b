/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_SCHEDULER_CLIENT_JOB_TOPIC_H
#define WORKER_SCHEDULER_CLIENT_JOB_TOPIC_H

/*
 * Reads the job messages of the worker's pool from Kafka. Without brokers these functions do nothing.
 *
 * A job message announces that a job waits, and any worker of the pool may claim that job. The messages are read ahead
 * whatever the worker's free slots (read_ahead.h), and each partition is committed up to the first message whose job
 * still waits. The scheduler says which jobs no longer wait: claims name those of this worker, and the answers to
 * heartbeats name all others. While messages are read and jobs are claimed, heartbeats are sent sooner.
 */

#include "common/json/json.h"

struct job_topic;
struct worker;

struct job_topic_spec {
	struct worker *worker;
	void (*arrived)(void *data);                  /* job messages were read */
	void (*hasten)(void *data, int64_t after_ms); /* a heartbeat is due after that time */
	void *data;
};

struct job_topic *job_topic_new(const struct job_topic_spec *spec);
void job_topic_free(struct job_topic *topic);
/* Starts to read the pool's topic. To be called again if the topic has changed. */
void job_topic_subscribe(struct job_topic *topic, const char *name, const char *pool);
/* The jobs of the oldest messages that were read, for a heartbeat. A new reference. */
json_t *job_topic_announced(struct job_topic *topic);
/* These jobs (an array of ids, or NULL) no longer wait, as the answer to a heartbeat says. */
void job_topic_heard(struct job_topic *topic, const json_t *jobs);
/* This worker has claimed the job. */
void job_topic_claimed(struct job_topic *topic, const char *job);
/* The partitions that are assigned to this worker. A new reference. */
json_t *job_topic_partitions(const struct job_topic *topic);

#endif
