/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_BENCH_FAKE_RESULT_H
#define TESTS_BENCH_FAKE_RESULT_H

/* The result of a claimed job, as simulated workers send it: passed, with one addition, and signed. */

#include <string.h>

#include "common/crypto.h"
#include "common/json/json.h"
#include "proto/mac.h"
#include "proto/messages.h"

/* `job`: a job of a claim's answer. The caller frees the text. */
static inline char *fake_result(const json_t *job)
{
	struct job_result result = {.attempt = (int)json_int_at(job, "attempt", 0),
		.has_changes = true,
		.additions = 1,
		.terraform_version = "1.11.4"};
	const char *token = json_string_at(job, "token");
	char token_hash[SHA256_HEX_SIZE];

	text_copy(result.job.text, ID_SIZE, json_string_at(job, "job"));
	text_copy(result.run.text, ID_SIZE, json_string_at(job, "run"));
	crypto_sha256_hex(token, strlen(token), token_hash);
	job_result_sign(&result, token_hash);
	return job_result_encode(&result);
}

#endif
