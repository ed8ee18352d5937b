/* SPDX-License-Identifier: MPL-2.0 */
#include "common/jose/sign.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <string.h>

#include "common/crypto.h"
#include "common/err.h"

enum { NUMBER_SIZE = 1024, PEM_LIMIT = 16 << 10 };

struct jose_signer {
	EVP_PKEY *key;
	char *n, *e; /* base64url */
	char *id;
};

static void bio_freep(BIO **bio)
{
	BIO_free_all(*bio);
}

static void pkey_freep(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void ctx_freep(EVP_MD_CTX **ctx)
{
	EVP_MD_CTX_free(*ctx);
}

/* ---- keys ---- */

int jose_key_make(char **ret_private, struct err *err)
{
	_cleanup_(pkey_freep) EVP_PKEY *key = EVP_RSA_gen(SIGNER_BITS);
	_cleanup_(bio_freep) BIO *bio = BIO_new(BIO_s_secmem());
	char *text;
	long len;

	if (!key || !bio || PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) <= 0)
		return err_set(err, ERR_INTERNAL, "OpenSSL made no key of %d bits", SIGNER_BITS);
	len = BIO_get_mem_data(bio, &text);
	*ret_private = mem_printf("%.*s", (int)len, text);
	return 0;
}

/* A number of the key as base64url; NULL if it is missing. The caller frees it. */
static char *number_of(const EVP_PKEY *key, const char *name)
{
	unsigned char bytes[NUMBER_SIZE];
	BIGNUM *number = NULL;
	char *text = NULL;
	int len;

	if (!EVP_PKEY_get_bn_param(key, name, &number))
		return NULL;
	len = BN_num_bytes(number);
	if (len <= NUMBER_SIZE && BN_bn2bin(number, bytes) == len)
		text = crypto_base64url(bytes, (size_t)len);
	BN_free(number);
	return text;
}

/* RFC 7638: the digest of the members that are needed, in the order of their names. */
static char *thumbprint_of(const struct jose_signer *signer)
{
	_cleanup_(freep) char *members =
		mem_printf("{\"e\":\"%s\",\"kty\":\"RSA\",\"n\":\"%s\"}", signer->e, signer->n);

	return crypto_challenge(members);
}

void jose_signer_free(struct jose_signer *signer)
{
	if (!signer)
		return;
	EVP_PKEY_free(signer->key);
	free(signer->n);
	free(signer->e);
	free(signer->id);
	free(signer);
}

int jose_signer_new(const char *private_key, struct jose_signer **ret_signer, struct err *err)
{
	_cleanup_(bio_freep) BIO *bio = BIO_new_mem_buf(private_key, -1);
	struct jose_signer *signer = mem_new(1, sizeof(*signer));

	signer->key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
	if (signer->key && EVP_PKEY_is_a(signer->key, "RSA")) {
		signer->n = number_of(signer->key, OSSL_PKEY_PARAM_RSA_N);
		signer->e = number_of(signer->key, OSSL_PKEY_PARAM_RSA_E);
	}
	if (!signer->n || !signer->e) {
		jose_signer_free(signer);
		return err_set(err, ERR_INTERNAL, "a signing key can't be read");
	}
	signer->id = thumbprint_of(signer);
	*ret_signer = signer;
	return 0;
}

const char *jose_signer_id(const struct jose_signer *signer)
{
	return signer->id;
}

json_t *jose_signer_public(const struct jose_signer *signer)
{
	return json_pack("{ss ss ss ss ss ss}", "kty", "RSA", "n", signer->n, "e", signer->e, "kid", signer->id, "use",
		"sig", "alg", "RS256");
}

/* ---- signing ---- */

static char *encoded(json_t *value)
{
	_cleanup_(freep) char *text = json_text(value);

	json_decref(value);
	return crypto_base64url(text, strlen(text));
}

static char *signature_of(const struct jose_signer *signer, const char *text)
{
	_cleanup_(ctx_freep) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char signature[NUMBER_SIZE];
	size_t len = sizeof(signature);

	if (!ctx || EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, signer->key) <= 0 ||
		EVP_DigestSign(ctx, signature, &len, (const unsigned char *)text, strlen(text)) <= 0)
		return NULL;
	return crypto_base64url(signature, len);
}

char *jose_sign(const struct jose_signer *signer, const json_t *claims, struct err *err)
{
	_cleanup_(freep) char *head = encoded(json_pack("{ss ss ss}", "typ", "JWT", "alg", "RS256", "kid", signer->id));
	_cleanup_(freep) char *body = encoded(json_deep_copy(claims));
	_cleanup_(freep) char *text = mem_printf("%s.%s", head, body);
	_cleanup_(freep) char *signature = signature_of(signer, text);

	if (!signature) {
		err_set(err, ERR_INTERNAL, "OpenSSL did not sign");
		return NULL;
	}
	return mem_printf("%s.%s", text, signature);
}
