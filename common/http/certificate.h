/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_CERTIFICATE_H
#define COMMON_HTTP_CERTIFICATE_H

/*
 * The certificate that this process serves TLS with, from two PEM files: the certificate with its chain, and its key.
 * There is one a process, because libmicrohttpd asks for it without saying for which server. It can be read again
 * while it is served: new connections get the new one, open ones stay.
 */

struct err;

/* What a handshake may use: TLS 1.2 and 1.3, ciphers of 128 bits and more. */
extern const char certificate_priorities[];

/* Reads the files, and from now on serves what they hold. With -1 (ERR_INVALID: a file is not there, is no PEM, or the
 * key is another certificate's) what was served before stays. */
int certificate_load(const char *certificate_file, const char *key_file, struct err *err);
/* For MHD_OPTION_HTTPS_CERT_CALLBACK: a gnutls_certificate_retrieve_function2. */
void *certificate_callback(void);
/* Forgets what was loaded, once no server uses it any more. */
void certificate_release(void);

#endif
