/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/factors/webauthn.h"

#include <cbor.h>
#include <fido.h>
#include <fido/eddsa.h>
#include <fido/es256.h>
#include <fido/rs256.h>
#include <openssl/sha.h>
#include <string.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/json/json.h"

/* The begin of authenticator data: SHA-256 of the relying party's id, and flags. */
enum { FLAGS_AT = SHA256_SIZE, COUNTER_AT, AUTHENTICATOR_DATA_MIN = COUNTER_AT + 4 };
enum { FLAG_PRESENT = 1, FLAG_VERIFIED = 4, FLAG_HAS_CREDENTIAL = 64 };
enum { MAX_ANSWER = 16 << 10 };

static const int algorithms[] = {COSE_ES256, COSE_EDDSA, COSE_RS256};

void passkey_release(struct passkey *passkey)
{
	buf_release(&passkey->id);
	buf_release(&passkey->public_key);
}

char *webauthn_relying_party(const char *origin)
{
	const char *host = strstr(origin, "://");

	host = host ? host + 3 : origin;
	return mem_printf("%.*s", (int)strcspn(host, ":/"), host);
}

static int part_read(const char *text, const char *what, struct buf *ret_bytes, struct err *err)
{
	if (!*text || strlen(text) > MAX_ANSWER || crypto_base64url_decode(text, strlen(text), ret_bytes) < 0)
		return err_set(err, ERR_INVALID, "the browser's answer has no %s", what);
	return 0;
}

/* Reads the client data, and compares its type, its challenge and its origin with the request. */
static int client_data_check(const struct webauthn_request *request, const char *client_data, const char *type,
	struct buf *ret_bytes, struct err *err)
{
	json_auto_t *data = NULL;

	if (part_read(client_data, "client data", ret_bytes, err) < 0)
		return -1;
	if (json_parse(ret_bytes->data, ret_bytes->len, &data, err) < 0)
		return err_set(err, ERR_INVALID, "the passkey's client data is not JSON");
	if (!text_equal(json_string_at(data, "type"), type))
		return err_set(err, ERR_INVALID, "the passkey's answer is of another kind than %s", type);
	if (!crypto_equal(text_or_empty(json_string_at(data, "challenge")), request->challenge))
		return err_set(err, ERR_INVALID, "the passkey's answer is to another challenge");
	if (!text_equal(json_string_at(data, "origin"), request->origin) || json_bool_at(data, "crossOrigin", false))
		return err_set(err, ERR_INVALID, "the passkey's answer is from another site");
	return 0;
}

static int authenticator_data_check(const struct webauthn_request *request, struct bytes data, struct err *err)
{
	_cleanup_(freep) char *party = webauthn_relying_party(request->origin);
	unsigned char hash[SHA256_SIZE];
	unsigned char flags;

	if (data.len < AUTHENTICATOR_DATA_MIN)
		return err_set(err, ERR_INVALID, "the authenticator's data is too short");
	SHA256((const unsigned char *)party, strlen(party), hash);
	if (memcmp(hash, data.data, sizeof(hash)) != 0)
		return err_set(err, ERR_INVALID, "the passkey is of another site");
	flags = ((const unsigned char *)data.data)[FLAGS_AT];
	if (!(flags & FLAG_PRESENT))
		return err_set(err, ERR_INVALID, "the authenticator did not ask its user");
	if (request->needs_verification && !(flags & FLAG_VERIFIED))
		return err_set(err, ERR_INVALID, "the authenticator did not verify its user by a PIN or a fingerprint");
	return 0;
}

/* ---- creation ---- */

static void item_release(cbor_item_t **item)
{
	if (*item)
		cbor_decref(item);
}

static bool is_text(const cbor_item_t *item, const char *text)
{
	return cbor_isa_string(item) && cbor_string_is_definite(item) && cbor_string_length(item) == strlen(text) &&
		memcmp(cbor_string_handle(item), text, strlen(text)) == 0;
}

/* Copies the authenticator's data out of an attestation object. */
static int attestation_read(struct bytes object, struct buf *ret_data, struct err *err)
{
	struct cbor_load_result loaded;
	_cleanup_(item_release) cbor_item_t *item = cbor_load(object.data, object.len, &loaded);

	if (item && cbor_isa_map(item))
		for (size_t i = 0; i < cbor_map_size(item); i++) {
			const struct cbor_pair *pair = &cbor_map_handle(item)[i];

			if (is_text(pair->key, "authData") && cbor_isa_bytestring(pair->value) &&
				cbor_bytestring_is_definite(pair->value))
				return buf_append(ret_data, cbor_bytestring_handle(pair->value),
					cbor_bytestring_length(pair->value));
		}
	return err_set(err, ERR_INVALID, "the passkey's attestation can't be read");
}

/* libfido2 reads a credential only with its algorithm known, so each is tried. */
static int credential_read(struct bytes data, struct passkey *ret_passkey, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
		fido_cred_t *credential = mem_check(fido_cred_new());
		bool read = fido_cred_set_type(credential, algorithms[i]) == FIDO_OK &&
			fido_cred_set_authdata_raw(credential, data.data, data.len) == FIDO_OK &&
			fido_cred_id_len(credential) > 0 && fido_cred_pubkey_len(credential) > 0;

		if (read) {
			ret_passkey->algorithm = algorithms[i];
			ret_passkey->sign_count = fido_cred_sigcount(credential);
			read = buf_append(&ret_passkey->id, fido_cred_id_ptr(credential),
				       fido_cred_id_len(credential)) == 0 &&
				buf_append(&ret_passkey->public_key, fido_cred_pubkey_ptr(credential),
					fido_cred_pubkey_len(credential)) == 0;
		}
		fido_cred_free(&credential);
		if (read)
			return 0;
	}
	return err_set(err, ERR_INVALID, "the passkey's key is of no known kind: ES256, EdDSA and RS256 are");
}

int webauthn_creation_read(const struct webauthn_request *request, const struct webauthn_creation *creation,
	struct passkey *ret_passkey, struct err *err)
{
	_cleanup_(buf_release) struct buf client = BUF_INIT(MAX_ANSWER), object = BUF_INIT(MAX_ANSWER),
					  data = BUF_INIT(MAX_ANSWER);

	if (client_data_check(request, creation->client_data, "webauthn.create", &client, err) < 0 ||
		part_read(creation->attestation, "attestation", &object, err) < 0 ||
		attestation_read(buf_bytes(&object), &data, err) < 0 ||
		authenticator_data_check(request, buf_bytes(&data), err) < 0)
		return -1;
	if (!(data.data[FLAGS_AT] & FLAG_HAS_CREDENTIAL))
		return err_set(err, ERR_INVALID, "the authenticator made no passkey");
	return credential_read(buf_bytes(&data), ret_passkey, err);
}

/* ---- assertion ---- */

/* The key as libfido2 takes it, to be freed by key_free; NULL if the bytes are no key. */
static void *key_make(const struct passkey *passkey)
{
	const void *bytes = passkey->public_key.data;
	size_t len = passkey->public_key.len;

	if (passkey->algorithm == COSE_ES256) {
		es256_pk_t *key = mem_check(es256_pk_new());

		if (es256_pk_from_ptr(key, bytes, len) != FIDO_OK)
			es256_pk_free(&key);
		return key;
	}
	if (passkey->algorithm == COSE_EDDSA) {
		eddsa_pk_t *key = mem_check(eddsa_pk_new());

		if (eddsa_pk_from_ptr(key, bytes, len) != FIDO_OK)
			eddsa_pk_free(&key);
		return key;
	}
	if (passkey->algorithm == COSE_RS256) {
		rs256_pk_t *key = mem_check(rs256_pk_new());

		if (rs256_pk_from_ptr(key, bytes, len) != FIDO_OK)
			rs256_pk_free(&key);
		return key;
	}
	return NULL;
}

static void key_free(int algorithm, void *key)
{
	es256_pk_t *es256 = key;
	eddsa_pk_t *eddsa = key;
	rs256_pk_t *rs256 = key;

	if (algorithm == COSE_ES256)
		es256_pk_free(&es256);
	else if (algorithm == COSE_EDDSA)
		eddsa_pk_free(&eddsa);
	else
		rs256_pk_free(&rs256);
}

static bool signature_fits(const char *party, const struct passkey *passkey, struct bytes client, struct bytes data,
	struct bytes signature)
{
	fido_assert_t *assertion = mem_check(fido_assert_new());
	void *key = key_make(passkey);
	bool fits = key && fido_assert_set_rp(assertion, party) == FIDO_OK &&
		fido_assert_set_clientdata(assertion, client.data, client.len) == FIDO_OK &&
		fido_assert_set_count(assertion, 1) == FIDO_OK &&
		fido_assert_set_up(assertion, FIDO_OPT_TRUE) == FIDO_OK &&
		fido_assert_set_authdata_raw(assertion, 0, data.data, data.len) == FIDO_OK &&
		fido_assert_set_sig(assertion, 0, signature.data, signature.len) == FIDO_OK &&
		fido_assert_verify(assertion, 0, passkey->algorithm, key) == FIDO_OK;

	if (key)
		key_free(passkey->algorithm, key);
	fido_assert_free(&assertion);
	return fits;
}

int webauthn_assertion_verify(const struct webauthn_request *request, const struct webauthn_assertion *assertion,
	const struct passkey *passkey, long long *ret_sign_count, struct err *err)
{
	_cleanup_(buf_release) struct buf client = BUF_INIT(MAX_ANSWER), data = BUF_INIT(MAX_ANSWER),
					  signature = BUF_INIT(MAX_ANSWER);
	_cleanup_(freep) char *party = webauthn_relying_party(request->origin);
	const unsigned char *counter;

	if (client_data_check(request, assertion->client_data, "webauthn.get", &client, err) < 0 ||
		part_read(assertion->authenticator_data, "authenticator data", &data, err) < 0 ||
		part_read(assertion->signature, "signature", &signature, err) < 0 ||
		authenticator_data_check(request, buf_bytes(&data), err) < 0)
		return -1;
	if (!signature_fits(party, passkey, buf_bytes(&client), buf_bytes(&data), buf_bytes(&signature)))
		return err_set(err, ERR_INVALID, "the passkey's signature is wrong");
	counter = (const unsigned char *)data.data + COUNTER_AT;
	*ret_sign_count =
		(long long)counter[0] << 24 | (long long)counter[1] << 16 | (long long)counter[2] << 8 | counter[3];
	return 0;
}
