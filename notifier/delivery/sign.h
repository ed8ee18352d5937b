/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_SIGN_H
#define NOTIFIER_DELIVERY_SIGN_H

#include "common/crypto.h"

/* The X-TFC-Task-Signature of a request: hex HMAC-SHA512 over the exact bytes that are sent, "" without a key. */
void request_sign(const char *key, const char *body, size_t len, char ret_signature[SHA512_HEX_SIZE]);

#endif
