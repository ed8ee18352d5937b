/* SPDX-License-Identifier: MPL-2.0 */
#include "common/kafka/kafka_failures.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>

#include "common/base.h"
#include "common/clock.h"
#include "common/log.h"

static const struct {
	rd_kafka_resp_err_t error;
	const char *kind;
} failures[] = {
	{RD_KAFKA_RESP_ERR__TRANSPORT, "transport"},
	{RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, "transport"},
	{RD_KAFKA_RESP_ERR__RESOLVE, "transport"},
	{RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION, "transport"},
	{RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, "transport"},
	{RD_KAFKA_RESP_ERR__AUTHENTICATION, "authentication"},
	{RD_KAFKA_RESP_ERR__SSL, "authentication"},
	{RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED, "authentication"},
	{RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM, "authentication"},
	{RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED, "authorization"},
	{RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED, "authorization"},
	{RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED, "authorization"},
	{RD_KAFKA_RESP_ERR__TIMED_OUT, "timeout"},
	{RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, "timeout"},
	{RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, "timeout"},
	{RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, "timeout"},
	{RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, "no-topic"},
	{RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC, "no-topic"},
	{RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION, "no-topic"},
};

const char *kafka_failure(int error)
{
	for (size_t i = 0; i < ARRAY_LEN(failures); i++)
		if ((int)failures[i].error == error)
			return failures[i].kind;
	return "other";
}

enum { REFUSALS = 64, REFUSAL_MS = 600 * 1000 };

static pthread_mutex_t refusals_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
	uint64_t hash;
	int64_t until_ms;
} refusals[REFUSALS]; /* logged lately, by the hash of their text */

static bool refusal_is_new(const char *text)
{
	uint64_t hash = text_hash(TEXT_HASH, text);
	int64_t now = clock_mono_ms();
	bool is_new;

	pthread_mutex_lock(&refusals_lock);
	is_new = refusals[hash % REFUSALS].hash != hash || now >= refusals[hash % REFUSALS].until_ms;
	if (is_new) {
		refusals[hash % REFUSALS].hash = hash;
		refusals[hash % REFUSALS].until_ms = now + REFUSAL_MS;
	}
	pthread_mutex_unlock(&refusals_lock);
	return is_new;
}

void kafka_refused(const char *operation, const char *resource, const char *name)
{
	_cleanup_(freep) char *acl = mem_printf("%s on %s %s", operation, resource, name);

	if (refusal_is_new(acl))
		log_error("Kafka refuses this account: an ACL is missing", "acl", acl, NULL);
}
