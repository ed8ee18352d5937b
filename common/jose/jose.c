/* SPDX-License-Identifier: MPL-2.0 */
#include "common/jose/jose.h"

#include <string.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"

enum { TOLERANCE = 60 };

void jwt_release(struct jwt *jwt)
{
	json_decref(jwt->header);
	json_decref(jwt->claims);
	free(jwt->signed_part);
	free(jwt->signature);
	*jwt = (struct jwt)JWT_INIT;
}

/* ---- reading ---- */

static json_t *object_decode(const char *part, size_t len)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(JWT_LIMIT);
	json_t *object;

	if (crypto_base64url_decode(part, len, &bytes) < 0)
		return NULL;
	object = json_loadb(bytes.data, bytes.len, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(object))
		return object;
	json_decref(object);
	return NULL;
}

static int refuse(struct jwt *jwt, struct err *err, const char *why)
{
	jwt_release(jwt);
	return err_set(err, ERR_FORBIDDEN, "the token %s", why);
}

static int parts_read(const char *text, struct jwt *jwt, struct err *err)
{
	const char *first = strchrnul(text, '.'), *second = *first ? strchrnul(first + 1, '.') : first;
	_cleanup_(buf_release) struct buf signature = BUF_INIT(JWT_LIMIT);

	if (!*second || strchr(second + 1, '.'))
		return refuse(jwt, err, "does not have three parts");
	jwt->header = object_decode(text, (size_t)(first - text));
	jwt->claims = object_decode(first + 1, (size_t)(second - first - 1));
	if (!jwt->header || !jwt->claims || crypto_base64url_decode(second + 1, strlen(second + 1), &signature) < 0)
		return refuse(jwt, err, "is not of base64url and JSON");
	jwt->signed_part = mem_printf("%.*s", (int)(second - text), text);
	jwt->signature = mem_new(signature.len + 1, 1);
	if (signature.len)
		memcpy(jwt->signature, signature.data, signature.len);
	jwt->signature_len = signature.len;
	return 0;
}

int jwt_read(const char *text, struct jwt *ret_jwt, struct err *err)
{
	struct jwt jwt = JWT_INIT;

	if (!text || strnlen(text, JWT_LIMIT + 1) > JWT_LIMIT)
		return refuse(&jwt, err, "is missing or too long");
	if (parts_read(text, &jwt, err) < 0)
		return -1;
	jwt.algorithm = json_string_value(json_object_get(jwt.header, "alg"));
	jwt.key_id = json_string_value(json_object_get(jwt.header, "kid"));
	if (!jose_algorithm_known(jwt.algorithm))
		return refuse(&jwt, err, "is not signed with RS256, PS256, ES256 or EdDSA");
	if (json_object_get(jwt.header, "crit"))
		return refuse(&jwt, err, "has a critical header that is not understood");
	*ret_jwt = jwt;
	return 0;
}

/* ---- verifying ---- */

/* A key whose `use` is encryption does not verify. */
static bool key_fits(const struct jwt *jwt, const json_t *key)
{
	const char *id = json_string_value(json_object_get(key, "kid"));
	const char *use = json_string_value(json_object_get(key, "use"));
	const char *algorithm = json_string_value(json_object_get(key, "alg"));

	if (jwt->key_id && !text_equal(id, jwt->key_id))
		return false;
	return (!use || text_equal(use, "sig")) && (!algorithm || text_equal(algorithm, jwt->algorithm));
}

int jwt_verify(const struct jwt *jwt, const json_t *keys, struct err *err)
{
	const struct jose_signed document = {jwt->algorithm, jwt->signed_part, jwt->signature, jwt->signature_len};
	const json_t *key;
	size_t i;
	bool found = false;

	json_array_foreach(json_object_get(keys, "keys"), i, key)
	{
		if (!key_fits(jwt, key))
			continue;
		found = true;
		if (jose_signature_valid(&document, key))
			return 0;
	}
	if (!found)
		return err_set(err, ERR_NOT_FOUND, "the token's key is not among the provider's keys");
	return err_set(err, ERR_FORBIDDEN, "the token's signature is wrong");
}

/* ---- checking ---- */

static bool audience_has(const json_t *audience, const char *wanted)
{
	return json_is_string(audience) ? text_equal(json_string_value(audience), wanted)
					: json_has_text(audience, wanted);
}

/* A time may have a fraction. */
static bool time_of(const json_t *claims, const char *name, long long *ret)
{
	return json_whole(json_object_get(claims, name), -JSON_WHOLE_MAX, JSON_WHOLE_MAX, ret) == 0;
}

int jwt_check(const struct jwt *jwt, const struct jwt_expected *expected, struct err *err)
{
	const json_t *claims = jwt->claims;
	long long expires, not_before, issued;

	if (!text_equal(json_string_value(json_object_get(claims, "iss")), expected->issuer))
		return err_set(err, ERR_FORBIDDEN, "the token is of another issuer");
	if (!audience_has(json_object_get(claims, "aud"), expected->audience))
		return err_set(err, ERR_FORBIDDEN, "the token is for another audience");
	if (!time_of(claims, "exp", &expires) || !time_of(claims, "iat", &issued))
		return err_set(err, ERR_FORBIDDEN, "the token does not say when it was made and when it expires");
	if (expires + TOLERANCE <= expected->now)
		return err_set(err, ERR_FORBIDDEN, "the token has expired");
	if (issued - TOLERANCE > expected->now ||
		(time_of(claims, "nbf", &not_before) && not_before - TOLERANCE > expected->now))
		return err_set(err, ERR_FORBIDDEN,
			"the token is not valid yet: the clocks of the two servers differ by more than %d s",
			TOLERANCE);
	return 0;
}
