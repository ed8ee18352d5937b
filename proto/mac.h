/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_MAC_H
#define PROTO_MAC_H

/*
 * Message authentication codes of results and stops. They prove that the sender knows the attempt's token, or its
 * SHA-256. Only the worker has the token, and only the scheduler stores the hash. README.md in this folder defines the
 * bytes. Each topic has its own key, so a code of one topic is not valid on the other.
 *
 * `token_hash` is the hexadecimal SHA-256 of the attempt's token; NULL and "" verify nothing.
 */

#include "proto/messages.h"

/* Set the message's `mac`. */
void job_result_sign(struct job_result *result, const char *token_hash);
void job_stop_sign(struct job_stop *stop, const char *token_hash);

/* Returns true if the message's `mac` was computed over all its fields with that token. The comparison takes constant
 * time. */
bool job_result_verify(const struct job_result *result, const char *token_hash);
bool job_stop_verify(const struct job_stop *stop, const char *token_hash);

#endif
