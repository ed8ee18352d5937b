/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/intake/dead_letters_topic.h"

#include "proto/messages.h"
#include "scheduler/intake/dead_letters.h"

static int letter_store(struct store *store, void *data, struct err *err)
{
	return dead_letters_store(store, data, err);
}

/* A message that is not a valid dead letter becomes a dead letter itself. */
static int letter_settle(struct intake *intake, const struct kafka_message *message)
{
	_cleanup_(buf_release) struct buf payload = BUF_INIT(MAX_LETTER_PAYLOAD);
	json_auto_t *source = NULL;
	struct dead_letter letter;
	struct err err = ERR_INIT;

	if (dead_letter_decode(message, &source, &payload, &letter, &err) < 0)
		return intake_letter(intake, message, err.message);
	if (!intake_letter_fits(intake))
		return 0;
	if (intake_try(intake, letter_store, &letter, &err) == 0)
		return 0;
	return err.kind == ERR_UNAVAILABLE ? -1 : intake_letter(intake, message, err.message);
}

int dead_letters_topic_settle(struct intake *intake, const struct kafka_message *messages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (letter_settle(intake, &messages[i]) < 0)
			return -1;
	return 0;
}
