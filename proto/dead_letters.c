/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/dead_letters.h"

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "common/metrics.h"
#include "proto/messages.h"
#include "proto/topics.h"

static const struct rate_limit limit = {60, 60000};

static void count(const struct dead_letters *letters, const char *outcome)
{
	metric_addf(letters->metric, 1, "outcome=\"%s\"", outcome);
}

void dead_letters_send(struct dead_letters *letters, const struct kafka_message *message, const char *why)
{
	const struct dead_letter letter = dead_letter_of(message, letters->reader, why);
	struct err err = ERR_INIT;

	if (!rate_take(&letters->rate, &limit, clock_mono_ms())) {
		count(letters, "dropped");
		return;
	}
	log_warn("a message can't be read; it goes to the dead letters", "topic", message->topic, "why", why, NULL);
	_cleanup_(freep) char *text = dead_letter_encode(&letter);
	const struct kafka_record record = {
		.topic = topics[TOPIC_DEAD_LETTERS].name, .payload = text, .tag = DEAD_LETTER_TAG};
	if (kafka_sender_send(letters->sender, &record, &err) < 0)
		count(letters, "failed");
}

void dead_letters_delivered(const struct dead_letters *letters, const char *error)
{
	count(letters, error ? "failed" : "ok");
}
