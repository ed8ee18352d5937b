/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_MAC_H
#define PROTO_MAC_H

/*
 * Message authentication codes of results and stops: they prove that the sender knows the attempt's token, or its
 * SHA-256. The worker has the token, the scheduler stores the hash; nothing else has either. README.md in this folder
 * defines the bytes. Each topic has a key of its own, so a code of one is worth nothing on the other.
 *
 * `token_hash` is the hexadecimal SHA-256 of the attempt's token; NULL and "" verify nothing.
 */

#include "proto/messages.h"

/* Set the message's `mac`. */
void job_result_sign(struct job_result *result, const char *token_hash);
void job_stop_sign(struct job_stop *stop, const char *token_hash);

/* True if the message's `mac` was made of all its fields with that token. Takes the same time wherever they differ. */
bool job_result_verify(const struct job_result *result, const char *token_hash);
bool job_stop_verify(const struct job_stop *stop, const char *token_hash);

#endif
