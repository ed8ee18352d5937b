/* SPDX-License-Identifier: MPL-2.0 */
#include "common/http/certificate.h"

#include <gnutls/abstract.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <pthread.h>

#include "common/buf.h"
#include "common/err.h"

enum { MAX_CHAIN = 16, PEM_LIMIT = 1 << 20 };

const char certificate_priorities[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-CIPHER-ALL:+AES-256-GCM:"
				      "+AES-128-GCM:+CHACHA20-POLY1305";

/* One loaded pair of files. A handshake may still use an earlier pair, so none is freed before certificate_release.
 * There are few. */
struct certificate {
	gnutls_pcert_st chain[MAX_CHAIN];
	unsigned int count;
	gnutls_privkey_t key;
	int64_t expires; /* seconds since 1970, the earliest of the chain */
	struct certificate *before;
};

static struct certificate *served;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void certificate_free(struct certificate *certificate)
{
	for (unsigned int i = 0; i < certificate->count; i++)
		gnutls_pcert_deinit(&certificate->chain[i]);
	if (certificate->key)
		gnutls_privkey_deinit(certificate->key);
	free(certificate);
}

static int file_read(const char *path, struct buf *ret_text, struct err *err)
{
	if (buf_read_file(ret_text, path, err) == 0)
		return 0;
	return err_set(err, ERR_INVALID, "%s can't be read", path);
}

static int chain_read(struct certificate *certificate, const char *path, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(PEM_LIMIT);
	unsigned int count = MAX_CHAIN;
	gnutls_datum_t pem;
	int failed;

	if (file_read(path, &text, err) < 0)
		return -1;
	pem = (gnutls_datum_t){(unsigned char *)text.data, (unsigned int)text.len};
	failed = gnutls_pcert_list_import_x509_raw(certificate->chain, &count, &pem, GNUTLS_X509_FMT_PEM, 0);
	if (failed < 0)
		return err_set(err, ERR_INVALID, "%s holds no certificate in PEM: %s", path, gnutls_strerror(failed));
	certificate->count = count;
	return 0;
}

/* Sets `expires`. */
static int expiry_read(struct certificate *certificate, struct err *err)
{
	certificate->expires = INT64_MAX;
	for (unsigned int i = 0; i < certificate->count; i++) {
		gnutls_x509_crt_t one = NULL;
		int failed = gnutls_pcert_export_x509(&certificate->chain[i], &one);
		int64_t expires = failed < 0 ? 0 : gnutls_x509_crt_get_expiration_time(one);

		gnutls_x509_crt_deinit(one);
		if (failed < 0)
			return err_set(
				err, ERR_INVALID, "the certificate's dates can't be read: %s", gnutls_strerror(failed));
		if (expires < certificate->expires)
			certificate->expires = expires;
	}
	return 0;
}

static int key_read(struct certificate *certificate, const char *path, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(PEM_LIMIT);
	gnutls_datum_t pem;
	int failed;

	if (file_read(path, &text, err) < 0)
		return -1;
	pem = (gnutls_datum_t){(unsigned char *)text.data, (unsigned int)text.len};
	if (gnutls_privkey_init(&certificate->key) < 0)
		mem_out();
	failed = gnutls_privkey_import_x509_raw(certificate->key, &pem, GNUTLS_X509_FMT_PEM, NULL, 0);
	gnutls_memset(text.data, 0, text.len);
	if (failed < 0)
		return err_set(err, ERR_INVALID, "%s holds no key in PEM: %s", path, gnutls_strerror(failed));
	return 0;
}

/* Checks that the key belongs to the first certificate. */
static int pair_check(const struct certificate *certificate, struct err *err)
{
	unsigned char of_certificate[64], of_key[64];
	size_t certificate_len = sizeof(of_certificate), key_len = sizeof(of_key);
	gnutls_pubkey_t public_key;
	int failed;

	if (gnutls_pubkey_init(&public_key) < 0)
		mem_out();
	failed = gnutls_pubkey_import_privkey(public_key, certificate->key, 0, 0);
	if (failed == 0)
		failed = gnutls_pubkey_get_key_id(public_key, GNUTLS_KEYID_USE_SHA256, of_key, &key_len);
	if (failed == 0)
		failed = gnutls_pubkey_get_key_id(
			certificate->chain[0].pubkey, GNUTLS_KEYID_USE_SHA256, of_certificate, &certificate_len);
	gnutls_pubkey_deinit(public_key);
	if (failed < 0)
		return err_set(err, ERR_INVALID, "the key can't be compared with the certificate: %s",
			gnutls_strerror(failed));
	if (key_len != certificate_len || gnutls_memcmp(of_key, of_certificate, key_len) != 0)
		return err_set(err, ERR_INVALID, "the key is not that of the certificate");
	return 0;
}

int certificate_load(const char *certificate_file, const char *key_file, struct err *err)
{
	struct certificate *certificate = mem_new(1, sizeof(*certificate));

	if (chain_read(certificate, certificate_file, err) < 0 || key_read(certificate, key_file, err) < 0 ||
		pair_check(certificate, err) < 0 || expiry_read(certificate, err) < 0) {
		certificate_free(certificate);
		return -1;
	}
	pthread_mutex_lock(&lock);
	certificate->before = served;
	served = certificate;
	pthread_mutex_unlock(&lock);
	return 0;
}

int64_t certificate_expires(void)
{
	int64_t expires;

	pthread_mutex_lock(&lock);
	expires = served->expires;
	pthread_mutex_unlock(&lock);
	return expires;
}

static int certificate_retrieve(gnutls_session_t session, const gnutls_datum_t *authorities, int authority_count,
	const gnutls_pk_algorithm_t *algorithms, int algorithm_count, gnutls_pcert_st **ret_chain,
	unsigned int *ret_count, gnutls_privkey_t *ret_key)
{
	(void)session;
	(void)authorities;
	(void)authority_count;
	(void)algorithms;
	(void)algorithm_count;
	pthread_mutex_lock(&lock);
	*ret_chain = served->chain;
	*ret_count = served->count;
	*ret_key = served->key;
	pthread_mutex_unlock(&lock);
	return 0;
}

void *certificate_callback(void)
{
	return (void *)(uintptr_t)certificate_retrieve;
}

void certificate_release(void)
{
	pthread_mutex_lock(&lock);
	for (struct certificate *next; served; served = next) {
		next = served->before;
		certificate_free(served);
	}
	pthread_mutex_unlock(&lock);
}
