/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/openpgp/operations.h"

#include <rnp/rnp.h>
#include <rnp/rnp_err.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"
#include "scheduler/openpgp/wire.h"

/* ---- what librnp allocates ---- */

static void ffi_release(rnp_ffi_t *ffi)
{
	if (*ffi)
		rnp_ffi_destroy(*ffi);
}

static void input_release(rnp_input_t *input)
{
	if (*input)
		rnp_input_destroy(*input);
}

static void key_release(rnp_key_handle_t *key)
{
	if (*key)
		rnp_key_handle_destroy(*key);
}

static void verify_release(rnp_op_verify_t *verify)
{
	if (*verify)
		rnp_op_verify_destroy(*verify);
}

static void iterator_release(rnp_identifier_iterator_t *iterator)
{
	if (*iterator)
		rnp_identifier_iterator_destroy(*iterator);
}

static void text_release(char **text)
{
	if (*text)
		rnp_buffer_destroy(*text);
}

static int library_failed(struct err *err)
{
	return err_set(err, ERR_INTERNAL, "librnp failed");
}

/* ---- keys ---- */

static int refuse(struct err *err, const char *why)
{
	return err_set(err, ERR_INVALID, "%s", why);
}

/* Finds the one primary key of the ring, by its fingerprint. */
static int primary_find(rnp_ffi_t ffi, rnp_key_handle_t *ret_key, struct err *err)
{
	_cleanup_(iterator_release) rnp_identifier_iterator_t iterator = NULL;
	const char *fingerprint = NULL;

	if (rnp_identifier_iterator_create(ffi, &iterator, "fingerprint") != RNP_SUCCESS)
		return library_failed(err);
	while (rnp_identifier_iterator_next(iterator, &fingerprint) == RNP_SUCCESS && fingerprint) {
		_cleanup_(key_release) rnp_key_handle_t key = NULL;
		bool primary = false;

		if (rnp_locate_key(ffi, "fingerprint", fingerprint, &key) != RNP_SUCCESS || !key ||
			rnp_key_is_primary(key, &primary) != RNP_SUCCESS)
			return library_failed(err);
		if (!primary)
			continue;
		if (*ret_key)
			return refuse(err, "there is more than one key in it");
		*ret_key = key;
		key = NULL;
	}
	return *ret_key ? 0 : refuse(err, "there is no public key in it");
}

static int primary_check(rnp_key_handle_t key, struct err *err)
{
	bool secret = true, valid = false, revoked = true;

	if (rnp_key_have_secret(key, &secret) != RNP_SUCCESS || rnp_key_is_revoked(key, &revoked) != RNP_SUCCESS ||
		rnp_key_is_valid(key, &valid) != RNP_SUCCESS)
		return library_failed(err);
	if (secret)
		return refuse(err, "it is a private key, which must stay secret: export the public key");
	if (revoked)
		return refuse(err, "the key was revoked");
	return valid ? 0 : refuse(err, "the key is not valid, or has expired");
}

/* Loads the armored key into a ring of its own. */
static int ring_load(const json_t *request, rnp_ffi_t *ret_ffi, rnp_key_handle_t *ret_key, struct err *err)
{
	const char *armor = text_or_empty(json_string_at(request, "armor"));
	_cleanup_(input_release) rnp_input_t input = NULL;

	if (strlen(armor) > OPENPGP_KEY_MAX)
		return refuse(err, "it is too large");
	if (rnp_ffi_create(ret_ffi, "GPG", "GPG") != RNP_SUCCESS ||
		rnp_input_from_memory(&input, (const uint8_t *)armor, strlen(armor), false) != RNP_SUCCESS)
		return library_failed(err);
	if (rnp_import_keys(*ret_ffi, input, RNP_LOAD_SAVE_PUBLIC_KEYS | RNP_LOAD_SAVE_SECRET_KEYS, NULL) !=
		RNP_SUCCESS)
		return refuse(err, "it is not an OpenPGP key in ASCII armor");
	return primary_find(*ret_ffi, ret_key, err);
}

static int key_read(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(ffi_release) rnp_ffi_t ffi = NULL;
	_cleanup_(key_release) rnp_key_handle_t key = NULL;
	_cleanup_(text_release) char *id = NULL;
	_cleanup_(text_release) char *fingerprint = NULL;

	if (!strstr(text_or_empty(json_string_at(request, "armor")), "-----BEGIN PGP "))
		return refuse(err, "it is not an OpenPGP key in ASCII armor"); /* engines read no other form */
	if (ring_load(request, &ffi, &key, err) < 0 || primary_check(key, err) < 0)
		return -1;
	if (rnp_key_get_keyid(key, &id) != RNP_SUCCESS || rnp_key_get_fprint(key, &fingerprint) != RNP_SUCCESS)
		return library_failed(err);
	json_object_set_new(answer, "key_id", json_string(id));
	json_object_set_new(answer, "fingerprint", json_string(fingerprint));
	return 0;
}

/* ---- signatures ---- */

/* Whether one of the signatures is valid, and made by a key of the ring that was not revoked. */
static int signatures_check(rnp_op_verify_t verify, struct err *err)
{
	size_t count = 0;

	rnp_op_verify_get_signature_count(verify, &count);
	for (size_t i = 0; i < count; i++) {
		_cleanup_(key_release) rnp_key_handle_t signer = NULL;
		rnp_op_verify_signature_t signature = NULL;
		bool revoked = true;

		if (rnp_op_verify_get_signature_at(verify, i, &signature) == RNP_SUCCESS &&
			rnp_op_verify_signature_get_status(signature) == RNP_SUCCESS &&
			rnp_op_verify_signature_get_key(signature, &signer) == RNP_SUCCESS &&
			rnp_key_is_revoked(signer, &revoked) == RNP_SUCCESS && !revoked)
			return 0;
	}
	return refuse(err, "the signature is not a valid one of the key");
}

static int input_make(const struct buf *bytes, rnp_input_t *ret_input, struct err *err)
{
	return rnp_input_from_memory(ret_input, (const uint8_t *)bytes->data, bytes->len, false) == RNP_SUCCESS
		? 0
		: library_failed(err);
}

static int detached_verify(rnp_ffi_t ffi, const struct buf *document, const struct buf *signature, struct err *err)
{
	_cleanup_(input_release) rnp_input_t data = NULL;
	_cleanup_(input_release) rnp_input_t signatures = NULL;
	_cleanup_(verify_release) rnp_op_verify_t verify = NULL;

	if (input_make(document, &data, err) < 0 || input_make(signature, &signatures, err) < 0)
		return -1;
	if (rnp_op_verify_detached_create(&verify, ffi, data, signatures) != RNP_SUCCESS)
		return library_failed(err);
	rnp_op_verify_execute(verify); /* fails unless all signatures are valid: others are looked at one by one */
	return signatures_check(verify, err);
}

static int bytes_read(const json_t *request, const char *name, struct buf *ret_bytes, struct err *err)
{
	if (crypto_base64_decode(text_or_empty(json_string_at(request, name)), ret_bytes) < 0 || !ret_bytes->len)
		return err_set(err, ERR_INVALID, "the %s is empty or too large", name);
	return 0;
}

static int signature_verify(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(buf_release) struct buf document = BUF_INIT(OPENPGP_DOCUMENT_MAX);
	_cleanup_(buf_release) struct buf signature = BUF_INIT(OPENPGP_SIGNATURE_MAX);
	_cleanup_(ffi_release) rnp_ffi_t ffi = NULL;
	_cleanup_(key_release) rnp_key_handle_t key = NULL;
	bool revoked = true;

	(void)answer;
	if (bytes_read(request, "document", &document, err) < 0 ||
		bytes_read(request, "signature", &signature, err) < 0)
		return -1;
	if (!(signature.data[0] & 0x80)) /* every binary packet begins so; engines read no armor here */
		return refuse(err, "the signature must be a binary one, as gpg --detach-sign makes it");
	if (ring_load(request, &ffi, &key, err) < 0)
		return -1;
	if (rnp_key_is_revoked(key, &revoked) != RNP_SUCCESS || revoked)
		return refuse(err, "the key was revoked");
	return detached_verify(ffi, &document, &signature, err);
}

const struct helper_operation openpgp_operations[] = {
#define OPERATION(name, function, request, answer) {#name, function},
#include "scheduler/openpgp/operations.def"
#undef OPERATION
	{NULL, NULL},
};

/* Creating a ring once seeds the random generator and makes the tables of algorithms. librnp's messages may quote what
 * it reads. */
int openpgp_init(void)
{
	_cleanup_(ffi_release) rnp_ffi_t ffi = NULL;

	return setenv("RNP_LOG_CONSOLE", "0", 1) == 0 && rnp_ffi_create(&ffi, "GPG", "GPG") == RNP_SUCCESS ? 0 : -1;
}
