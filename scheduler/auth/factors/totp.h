/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_FACTORS_TOTP_H
#define SCHEDULER_AUTH_FACTORS_TOTP_H

/* Time-based one-time passwords (RFC 6238) as authenticator apps make them: SHA-1, six digits, steps of 30 s. Pure. */

#include "common/buf.h"

enum { TOTP_DIGITS = 6, TOTP_STEP_SECONDS = 30, TOTP_SECRET_BYTES = 20 };

/* A new secret in base32, 32 characters. The caller frees it. */
char *totp_secret_new(void);
/* The code of that step: its number, below 10^TOTP_DIGITS. */
unsigned int totp_code(const void *secret, size_t len, long long step);
/*
 * Compares the text with the codes of the present step, the one before and the one after it. Returns true, with the
 * step in *ret_step, if one of them is equal and its step is later than `last_step`: a code is accepted once. Blanks in
 * the text are ignored. `secret` is in base32.
 */
bool totp_accepts(const char *secret, const char *text, long long seconds, long long last_step, long long *ret_step);
/* The otpauth: address that an app reads from a QR code. The caller frees it. */
char *totp_uri(const char *secret, const char *issuer, const char *username);

/* Base32 (RFC 4648) without padding; decoding ignores case. -1 if the text has another character. */
char *base32_encode(const void *bytes, size_t len);
int base32_decode(const char *text, struct buf *ret_bytes);

#endif
