/* SPDX-License-Identifier: MPL-2.0 */
#include "common/jose/key.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <string.h>

#include "common/crypto.h"

enum { MIN_RSA_BITS = 2048, MAX_RSA_BITS = 8192, P256_BYTES = 32, NUMBER_LIMIT = 2048 };

#define FREE_BY(type, name, release)                                                                                   \
	static void name(type **object)                                                                                \
	{                                                                                                              \
		release(*object);                                                                                      \
	}

FREE_BY(EVP_PKEY, pkey_freep, EVP_PKEY_free)
FREE_BY(EVP_PKEY_CTX, pkey_ctx_freep, EVP_PKEY_CTX_free)
FREE_BY(EVP_MD_CTX, md_ctx_freep, EVP_MD_CTX_free)
FREE_BY(OSSL_PARAM_BLD, bld_freep, OSSL_PARAM_BLD_free)
FREE_BY(OSSL_PARAM, params_freep, OSSL_PARAM_free)
FREE_BY(BIGNUM, bn_freep, BN_free)
FREE_BY(ECDSA_SIG, ecdsa_freep, ECDSA_SIG_free)

/* ---- keys ---- */

/* A member of the key as bytes. */
static int member_read(const json_t *key, const char *name, struct buf *ret_bytes)
{
	const char *text = json_string_value(json_object_get(key, name));

	if (!text || strlen(text) > NUMBER_LIMIT || crypto_base64url_decode(text, strlen(text), ret_bytes) < 0)
		return -1;
	return ret_bytes->len ? 0 : -1;
}

static EVP_PKEY *key_build(const char *type, OSSL_PARAM_BLD *build)
{
	_cleanup_(params_freep) OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
	_cleanup_(pkey_ctx_freep) EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *key = NULL;

	if (!params || !ctx || EVP_PKEY_fromdata_init(ctx) <= 0)
		return NULL;
	return EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) > 0 ? key : NULL;
}

static EVP_PKEY *rsa_read(const json_t *key)
{
	_cleanup_(buf_release) struct buf modulus = BUF_INIT(NUMBER_LIMIT), exponent = BUF_INIT(NUMBER_LIMIT);
	_cleanup_(bld_freep) OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	_cleanup_(bn_freep) BIGNUM *n = NULL;
	_cleanup_(bn_freep) BIGNUM *e = NULL;

	if (member_read(key, "n", &modulus) < 0 || member_read(key, "e", &exponent) < 0 || exponent.len > 8)
		return NULL;
	n = BN_bin2bn((const unsigned char *)modulus.data, (int)modulus.len, NULL);
	e = BN_bin2bn((const unsigned char *)exponent.data, (int)exponent.len, NULL);
	if (!build || !n || !e || BN_num_bits(n) < MIN_RSA_BITS || BN_num_bits(n) > MAX_RSA_BITS ||
		!OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) ||
		!OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e))
		return NULL;
	return key_build("RSA", build);
}

static EVP_PKEY *ec_read(const json_t *key)
{
	_cleanup_(buf_release) struct buf x = BUF_INIT(NUMBER_LIMIT), y = BUF_INIT(NUMBER_LIMIT);
	_cleanup_(bld_freep) OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
	unsigned char point[1 + 2 * P256_BYTES] = {POINT_CONVERSION_UNCOMPRESSED};

	if (!text_equal(json_string_value(json_object_get(key, "crv")), "P-256") || member_read(key, "x", &x) < 0 ||
		member_read(key, "y", &y) < 0 || x.len != P256_BYTES || y.len != P256_BYTES)
		return NULL;
	memcpy(point + 1, x.data, P256_BYTES);
	memcpy(point + 1 + P256_BYTES, y.data, P256_BYTES);
	if (!build || !OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) ||
		!OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof(point)))
		return NULL;
	return key_build("EC", build);
}

static EVP_PKEY *ed25519_read(const json_t *key)
{
	_cleanup_(buf_release) struct buf x = BUF_INIT(NUMBER_LIMIT);

	if (!text_equal(json_string_value(json_object_get(key, "crv")), "Ed25519") || member_read(key, "x", &x) < 0)
		return NULL;
	return EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)x.data, x.len);
}

/* ---- algorithms ---- */

/* The signature in the form that OpenSSL verifies. */
static int signature_as_it_is(const struct jose_signed *document, struct buf *ret)
{
	return buf_append(ret, document->signature, document->signature_len);
}

/* JWT's is r and s, 32 bytes each; OpenSSL's is their ASN.1. */
static int signature_of_ecdsa(const struct jose_signed *document, struct buf *ret)
{
	_cleanup_(ecdsa_freep) ECDSA_SIG *pair = ECDSA_SIG_new();
	_cleanup_(bn_freep) BIGNUM *r = NULL;
	_cleanup_(bn_freep) BIGNUM *s = NULL;
	unsigned char *der = NULL;
	int len;

	if (!pair || document->signature_len != 2 * P256_BYTES)
		return -1;
	r = BN_bin2bn(document->signature, P256_BYTES, NULL);
	s = BN_bin2bn(document->signature + P256_BYTES, P256_BYTES, NULL);
	if (!r || !s || !ECDSA_SIG_set0(pair, r, s))
		return -1;
	r = s = NULL; /* of the pair now */
	len = i2d_ECDSA_SIG(pair, &der);
	if (len > 0)
		buf_append(ret, der, (size_t)len);
	OPENSSL_free(der);
	return len > 0 ? 0 : -1;
}

static const struct algorithm {
	const char *name, *key_type;
	EVP_PKEY *(*key_read)(const json_t *key);
	const EVP_MD *(*digest)(void); /* NULL: the algorithm has its own */
	int (*signature)(const struct jose_signed *document, struct buf *ret);
	bool pss;
} algorithms[] = {
	{"RS256", "RSA", rsa_read, EVP_sha256, signature_as_it_is, false},
	{"PS256", "RSA", rsa_read, EVP_sha256, signature_as_it_is, true},
	{"ES256", "EC", ec_read, EVP_sha256, signature_of_ecdsa, false},
	{"EdDSA", "OKP", ed25519_read, NULL, signature_as_it_is, false},
};

static const struct algorithm *algorithm_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
		if (text_equal(algorithms[i].name, name))
			return &algorithms[i];
	return NULL;
}

bool jose_algorithm_known(const char *name)
{
	return algorithm_of(name) != NULL;
}

bool jose_signature_valid(const struct jose_signed *document, const json_t *jwk)
{
	const struct algorithm *algorithm = algorithm_of(document->algorithm);
	_cleanup_(buf_release) struct buf signature = BUF_INIT(JWT_LIMIT);
	_cleanup_(md_ctx_freep) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	_cleanup_(pkey_freep) EVP_PKEY *key = NULL;
	EVP_PKEY_CTX *of_key = NULL;

	if (!text_equal(json_string_value(json_object_get(jwk, "kty")), algorithm->key_type) ||
		!(key = algorithm->key_read(jwk)) || algorithm->signature(document, &signature) < 0 || !ctx ||
		EVP_DigestVerifyInit(ctx, &of_key, algorithm->digest ? algorithm->digest() : NULL, NULL, key) <= 0)
		return false;
	if (algorithm->pss &&
		(EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) <= 0 ||
			EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_DIGEST) <= 0))
		return false;
	return EVP_DigestVerify(ctx, (const unsigned char *)signature.data, signature.len,
		       (const unsigned char *)document->text, strlen(document->text)) == 1;
}
