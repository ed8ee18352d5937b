/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_PROTOCOL_H
#define PROTO_PROTOCOL_H

/*
 * The version of this folder's contract. A release works with processes of its own version and of the one before, in
 * both orders. Additions that the other side may ignore change no number. Workers and notifiers name all versions that
 * they support; the newest one that both sides support is used. Pure.
 *
 *   1  processes that name no version
 *   2  workers and notifiers name the versions that they support
 */

#include "common/json/json.h"

struct err;

enum { PROTOCOL_VERSION = 2, PROTOCOL_OLDEST = 1 };

/* The versions that this program supports: [1, 2]. A new reference. */
json_t *protocol_versions(void);
/* Finds the newest version that both sides support. `versions`: the other side's; NULL: it names none. -1 with
 * ERR_INVALID if it is no array of a few numbers, or ERR_UPGRADE if there is none; `who` is the other side, "worker".
 */
int protocol_agree(const json_t *versions, const char *who, int *ret_version, struct err *err);
/* Copies the reason from the body of an answer with the status 426: JSON:API's errors. "" if it has none. */
enum { PROTOCOL_REFUSED = 426, PROTOCOL_REFUSAL_SIZE = 256 };
void protocol_refusal(const char *body, size_t len, char ret_reason[PROTOCOL_REFUSAL_SIZE]);

#endif
