/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_CERTIFICATE_H
#define COMMON_HTTP_CERTIFICATE_H

/*
 * The TLS certificate of this process, from two PEM files: the certificate with its chain, and its key. There is one
 * per process, because libmicrohttpd's callback does not tell for which server it asks. It can be reloaded while it
 * is in use: new connections get the new certificate, open ones keep theirs.
 */

#include <stdint.h>

struct err;

/* GnuTLS priorities: TLS 1.2 and 1.3, ciphers of 128 bits and more. */
extern const char certificate_priorities[];

/* Loads the files and uses them from now on. -1 with ERR_INVALID if a file is missing or not PEM, or if the key does
 * not belong to the certificate. The previous certificate then stays in use. */
int certificate_load(const char *certificate_file, const char *key_file, struct err *err);
/* Seconds since 1970 when the first certificate of the used chain expires. Call it only after certificate_load. */
int64_t certificate_expires(void);
/* For MHD_OPTION_HTTPS_CERT_CALLBACK: a gnutls_certificate_retrieve_function2. */
void *certificate_callback(void);
/* Frees all certificates. No server may use them any more. */
void certificate_release(void);

#endif
