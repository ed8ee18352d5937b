/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/kafka_client.h"

#include "worker/metrics.h"
#include "worker/options.h"

static void delivered(void *data, uint64_t tag, const char *error)
{
	const struct kafka_client *client = data;

	if (tag == DEAD_LETTER_TAG)
		dead_letters_delivered(&client->dead_letters, error);
	else
		client->delivered(client->data, tag, error);
}

struct kafka_shown kafka_client_shown(const char *label)
{
	return (struct kafka_shown){.client = label, .up = M_KAFKA_UP, .lag = M_KAFKA_LAG};
}

void kafka_client_malformed(struct kafka_client *client, const struct kafka_message *message, const char *why)
{
	metric_addf(M_MESSAGES, 1, "kind=\"malformed\"");
	dead_letters_send(&client->dead_letters, message, why);
}

int kafka_client_open(struct kafka_client *client, struct loop *loop, const struct options *options, struct err *err)
{
	const struct kafka_sender_spec sender = {.loop = loop,
		.settings = &client->settings,
		.shown = kafka_client_shown("results"),
		.delivered = delivered,
		.data = client};

	client->settings = (struct kafka_settings){.brokers = options->brokers,
		.client_id = options->name,
		.properties = options->broker_properties,
		.fetch_wait_ms = (int)options->fetch_wait_ms};
	if (*options->brokers && kafka_sender_open(&sender, &client->sender, err) < 0)
		return -1;
	client->dead_letters =
		(struct dead_letters){.sender = client->sender, .reader = options->name, .metric = M_DEAD_LETTERS};
	return 0;
}

void kafka_client_close(struct kafka_client *client)
{
	kafka_sender_free(client->sender);
	client->sender = NULL;
}
