/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_SIGN_H
#define NOTIFIER_DELIVERY_SIGN_H

#include "common/crypto.h"

/* The X-TFC-Task-Signature of a request: the hex HMAC-SHA512 of the exact bytes of the body; "" without a key. */
void request_sign(const char *key, const char *body, size_t len, char ret_signature[SHA512_HEX_SIZE]);

#endif
