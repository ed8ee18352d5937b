/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/parties.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

#include "common/crypto.h"
#include "common/err.h"

enum { CERTIFICATE_MAX = 64 << 10 };

static const struct {
	const char *name;
	LassoSignatureMethod method;
} methods[] = {
	{"SHA1", LASSO_SIGNATURE_METHOD_RSA_SHA1},
	{"SHA256", LASSO_SIGNATURE_METHOD_RSA_SHA256},
	{"SHA384", LASSO_SIGNATURE_METHOD_RSA_SHA384},
	{"SHA512", LASSO_SIGNATURE_METHOD_RSA_SHA512},
};

int parties_read(const json_t *request, struct parties *ret_parties, struct err *err)
{
	const char *method = text_or_empty(json_string_at(request, "own.method"));
	const json_t *certificates = json_at(request, "provider.certificates");
	struct parties parties = {.now = json_int_at(request, "now", 0),
		.own = {.entity_id = json_string_at(request, "own.entity_id"),
			.acs_url = json_string_at(request, "own.acs_url"),
			.slo_url = json_string_at(request, "own.slo_url"),
			.certificate = json_string_at(request, "own.certificate"),
			.private_key = json_string_at(request, "own.private_key"),
			.method = LASSO_SIGNATURE_METHOD_RSA_SHA256,
			.signs = json_bool_at(request, "own.sign", false)},
		.provider = {.entity_id = text_or_null(json_string_at(request, "provider.entity_id")),
			.sso_url = text_or_empty(json_string_at(request, "provider.sso_url")),
			.slo_url = text_or_empty(json_string_at(request, "provider.slo_url"))}};

	if (!parties.own.entity_id || !parties.own.acs_url || !parties.own.slo_url ||
		json_array_size(certificates) > MAX_CERTIFICATES)
		return err_set(err, ERR_INTERNAL, "the request is not complete");
	for (size_t i = 0; i < json_array_size(certificates); i++)
		parties.provider.certificates[parties.provider.count++] =
			text_or_empty(json_string_value(json_array_get(certificates, i)));
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (text_equal(method, methods[i].name))
			parties.own.method = methods[i].method;
	*ret_parties = parties;
	return 0;
}

char *base64_tidy(const char *text, size_t len)
{
	char *tidy = mem_new(len + 1, 1), *to = tidy;

	for (size_t i = 0; i < len; i++)
		if (!strchr(" \t\r\n", text[i]))
			*to++ = text[i];
	return tidy;
}

/* ---- certificates ---- */

static void x509_freep(X509 **certificate)
{
	X509_free(*certificate);
}

static void key_freep(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

/* The text without PEM's lines and without white space. */
static char *body_of(const char *text)
{
	const char *begin = strstr(text, "-----BEGIN CERTIFICATE-----"), *end;

	if (begin)
		text = begin + strlen("-----BEGIN CERTIFICATE-----");
	end = strstr(text, "-----END");
	return base64_tidy(text, end ? (size_t)(end - text) : strlen(text));
}

static int certificate_parse(const char *text, char **ret_base64, X509 **ret_certificate, struct err *err)
{
	_cleanup_(freep) char *body = body_of(text);
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(CERTIFICATE_MAX);
	const unsigned char *at;
	X509 *certificate;

	if (!*body || crypto_base64_decode(body, &bytes) < 0)
		return err_set(err, ERR_INVALID, "it is no certificate in PEM");
	at = (const unsigned char *)bytes.data;
	certificate = d2i_X509(NULL, &at, (long)bytes.len);
	if (!certificate || at != (const unsigned char *)bytes.data + bytes.len) {
		X509_free(certificate);
		return err_set(err, ERR_INVALID, "it is no certificate in PEM");
	}
	if (ret_base64) {
		*ret_base64 = body;
		body = NULL;
	}
	*ret_certificate = certificate;
	return 0;
}

char *certificate_base64(const char *text, struct err *err)
{
	_cleanup_(x509_freep) X509 *certificate = NULL;
	char *base64 = NULL;

	return certificate_parse(text, &base64, &certificate, err) < 0 ? NULL : base64;
}

static EVP_PKEY *private_key_parse(const char *text)
{
	BIO *bio = BIO_new_mem_buf(text, -1);
	EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, (void *)"") : NULL;

	BIO_free(bio);
	return key;
}

bool private_key_valid(const char *text)
{
	_cleanup_(key_freep) EVP_PKEY *key = private_key_parse(text);

	return key;
}

static void problem_add(json_t *problems, const char *what, const char *problem)
{
	json_array_append_new(problems, json_sprintf("%s: %s", what, problem));
}

static void certificate_problems(const char *text, const char *what, long long now, json_t *problems)
{
	_cleanup_(x509_freep) X509 *certificate = NULL;
	struct err err = ERR_INIT;
	time_t time = (time_t)now;

	if (certificate_parse(text, NULL, &certificate, &err) < 0)
		problem_add(problems, what, err.message);
	else if (X509_cmp_time(X509_get0_notAfter(certificate), &time) < 0)
		problem_add(problems, what, "it has expired");
	else if (EVP_PKEY_get_base_id(X509_get0_pubkey(certificate)) != EVP_PKEY_RSA)
		problem_add(problems, what, "its key is no RSA key");
}

static void own_problems(const struct party_own *own, long long now, json_t *problems)
{
	_cleanup_(key_freep) EVP_PKEY *key =
		text_or_null(own->private_key) ? private_key_parse(own->private_key) : NULL;
	_cleanup_(x509_freep) X509 *certificate = NULL;
	struct err err = ERR_INIT;

	if (text_or_null(own->certificate))
		certificate_problems(own->certificate, "certificate", now, problems);
	if (text_or_null(own->private_key) && !key)
		problem_add(problems, "private-key", "it is no private key in PEM, or it has a password");
	if (own->signs && !text_or_null(own->private_key))
		problem_add(problems, "authn-requests-signed", "it needs a private key");
	if (key && text_or_null(own->certificate) &&
		certificate_parse(own->certificate, NULL, &certificate, &err) == 0 &&
		X509_check_private_key(certificate, key) != 1)
		problem_add(problems, "private-key", "it is not the key of the certificate");
}

void parties_problems(const struct parties *parties, json_t *problems)
{
	if (!*parties->provider.sso_url)
		problem_add(problems, "sso-endpoint-url", "it is not set");
	if (!parties->provider.count)
		problem_add(problems, "idp-cert", "it is not set");
	for (size_t i = 0; i < parties->provider.count; i++)
		certificate_problems(
			parties->provider.certificates[i], i ? "old-idp-cert" : "idp-cert", parties->now, problems);
	own_problems(&parties->own, parties->now, problems);
}

/* ---- Lasso ---- */

int signing_key(const struct party_own *own, LassoKey **ret_key, struct err *err)
{
	const char *text = text_or_null(own->private_key);

	*ret_key = text ? lasso_key_new_for_signature_from_memory(text, strlen(text), NULL, own->method, NULL) : NULL;
	return *ret_key ? 0 : err_set(err, ERR_CONFLICT, "Requests are signed, but the private key is not usable");
}

int query_verify(const struct party_provider *provider, const char *query, struct err *err)
{
	for (size_t i = 0; i < provider->count; i++) {
		_cleanup_(freep) char *base64 = certificate_base64(provider->certificates[i], err);
		LassoKey *key = base64 ? lasso_key_new_for_signature_from_memory(
						 base64, strlen(base64), NULL, LASSO_SIGNATURE_METHOD_RSA_SHA256, NULL)
				       : NULL;
		bool verified = key && lasso_key_query_verify(key, query) == 0;

		if (key)
			g_object_unref(key);
		if (verified)
			return 0;
	}
	return err_set(err, ERR_INVALID, "the message's signature is not the identity provider's");
}
