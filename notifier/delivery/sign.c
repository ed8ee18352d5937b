/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/delivery/sign.h"

#include <string.h>

void request_sign(const char *key, const char *body, size_t len, char ret_signature[SHA512_HEX_SIZE])
{
	ret_signature[0] = '\0';
	if (key && *key)
		crypto_hmac_sha512_hex(key, strlen(key), body, len, ret_signature);
}
