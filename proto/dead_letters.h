/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_DEAD_LETTERS_H
#define PROTO_DEAD_LETTERS_H

/* Sends messages that a worker or notifier can't read to runyard.dead-letters, at most 60 a minute (README.md). */

#include "common/http/rate.h"
#include "common/kafka/kafka_loop.h"

struct dead_letters {
	struct kafka_sender *sender; /* borrowed */
	const char *reader;          /* name of this process; borrowed */
	int metric;                  /* counts dead letters by outcome: ok, failed, dropped */
	struct rate rate;
};

/* The tag of every dead letter: no other message of the sender has it. */
#define DEAD_LETTER_TAG UINT64_MAX

void dead_letters_send(struct dead_letters *letters, const struct kafka_message *message, const char *why);
/* The delivery report of one. Without the permission to write to the topic, the broker's refusal is counted here. */
void dead_letters_delivered(const struct dead_letters *letters, const char *error);

#endif
