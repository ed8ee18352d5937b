/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_KAFKA_KAFKA_FAILURES_H
#define COMMON_KAFKA_KAFKA_FAILURES_H

/* Names for what Kafka refuses, or why it can't be reached. */

/* The kind of librdkafka's error, a constant word: transport, authentication, authorization, timeout, no-topic or
 * other. */
const char *kafka_failure(int error);
/* Logs that an ACL is missing: `operation` (Read, Write, Describe) on a topic or group of that name. Each one at most
 * once in ten minutes. From any thread. */
void kafka_refused(const char *operation, const char *resource, const char *name);

#endif
