/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Messages from a broker. If a decoder accepts a message, the encoder's output must be accepted too and mean the
 * same.
 */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "proto/mac.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check(bool condition)
{
	if (!condition)
		abort();
}

static void check_job_message(const char *text, size_t len)
{
	struct job_message message, again;
	struct err err = ERR_INIT;

	if (job_message_decode(text, len, &message, &err) < 0)
		return;
	_cleanup_(freep) char *encoded = job_message_encode(&message);
	check(job_message_decode(encoded, strlen(encoded), &again, &err) == 0);
	check(text_equal(message.job.text, again.job.text) && text_equal(message.run.text, again.run.text));
}

/* The hash of a token other than the one that the inputs were signed with. */
static const char token_hash[] = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/* The input must not verify. A signed result must verify after it was encoded and decoded. */
static void check_result_signature(const struct job_result *result)
{
	struct job_result sent = *result, read;
	struct err err = ERR_INIT;

	check(!job_result_verify(result, token_hash));
	job_result_sign(&sent, token_hash);
	_cleanup_(freep) char *encoded = job_result_encode(&sent);
	check(job_result_decode(encoded, strlen(encoded), &read, &err) == 0 && job_result_verify(&read, token_hash));
}

static void check_job_result(const char *text, size_t len)
{
	struct job_result result, again;
	struct err err = ERR_INIT;

	if (job_result_decode(text, len, &result, &err) < 0)
		return;
	_cleanup_(freep) char *encoded = job_result_encode(&result);
	check(job_result_decode(encoded, strlen(encoded), &again, &err) == 0);
	check(text_equal(result.job.text, again.job.text) && result.attempt == again.attempt &&
		result.outcome == again.outcome && result.additions == again.additions &&
		text_equal(result.error, again.error) && text_equal(result.mac, again.mac));
	check_result_signature(&result);
}

static void check_job_stop(const char *text, size_t len)
{
	struct job_stop stop, again;
	struct err err = ERR_INIT;

	if (job_stop_decode(text, len, &stop, &err) < 0)
		return;
	_cleanup_(freep) char *encoded = job_stop_encode(&stop);
	check(job_stop_decode(encoded, strlen(encoded), &again, &err) == 0);
	check(text_equal(stop.job.text, again.job.text) && stop.attempt == again.attempt && stop.stop == again.stop &&
		text_equal(stop.mac, again.mac));
	check(!job_stop_verify(&stop, token_hash));
	job_stop_sign(&again, token_hash);
	check(job_stop_verify(&again, token_hash));
}

static void check_task_message(const char *text, size_t len)
{
	struct task_message message, again;
	struct err err = ERR_INIT;

	if (task_message_decode(text, len, &message, &err) < 0)
		return;
	_cleanup_(freep) char *encoded = task_message_encode(&message);
	check(task_message_decode(encoded, strlen(encoded), &again, &err) == 0);
	check(text_equal(message.task_result.text, again.task_result.text));
}

static void check_request_message(const char *text, size_t len)
{
	struct request_message message;
	struct err err = ERR_INIT;

	request_message_decode(text, len, &message, &err);
}

static void check_dead_letter(const char *text, size_t len)
{
	_cleanup_(buf_release) struct buf payload = BUF_INIT(MAX_LETTER_PAYLOAD);
	_cleanup_(buf_release) struct buf payload_again = BUF_INIT(MAX_LETTER_PAYLOAD);
	json_auto_t *source = NULL, *source_again = NULL;
	struct dead_letter letter, again;
	struct err err = ERR_INIT;

	if (dead_letter_decode(&(struct kafka_message){.payload = text, .len = len}, &source, &payload, &letter, &err) <
		0)
		return;
	_cleanup_(freep) char *encoded = dead_letter_encode(&letter);
	const struct kafka_message message = {.payload = encoded, .len = strlen(encoded)};
	check(dead_letter_decode(&message, &source_again, &payload_again, &again, &err) == 0);
	check(text_equal(letter.topic, again.topic) && letter.offset == again.offset && letter.size == again.size);
	check(letter.len == again.len && memcmp(letter.payload, again.payload, letter.len) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;

	check_job_message(text, len);
	check_job_result(text, len);
	check_job_stop(text, len);
	check_task_message(text, len);
	check_request_message(text, len);
	check_dead_letter(text, len);
	return 0;
}
