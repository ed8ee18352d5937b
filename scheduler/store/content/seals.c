/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/seals.h"

#include <string.h>

enum { SEALED_LIMIT = 1 << 30, SECRET_LIMIT = 1 << 20, CODE_LIMIT = 256 };

void seal_text(const struct store *store, const char *context, const char *text, struct buf *ret_sealed)
{
	keyring_seal(store->keyring, context, text_bytes(text), ret_sealed);
}

int seal_open(
	const struct store *store, const char *context, struct db_hex sealed, struct buf *ret_text, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(SEALED_LIMIT);

	hex_decode(sealed, &bytes);
	return keyring_open(store->keyring, context, buf_bytes(&bytes), ret_text, err);
}

int secret_open(struct store *store, struct db_hex sealed, const char *prefix, const char *id, char **ret_secret,
	struct err *err)
{
	_cleanup_(buf_release) struct buf secret = BUF_INIT(SECRET_LIMIT);
	_cleanup_(freep) char *context = NULL;

	*ret_secret = NULL;
	if (!sealed.text)
		return 0;
	context = mem_printf("%s%s", prefix, id);
	if (seal_open(store, context, sealed, &secret, err) < 0)
		return -1;
	*ret_secret = buf_take(&secret);
	return 0;
}

char *code_seal(const struct store *store, const char *context, const char *id)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(CODE_LIMIT);

	keyring_seal(store->keyring, context, text_bytes(id), &sealed);
	return crypto_base64(sealed.data, sealed.len);
}

bool code_open(const struct store *store, const char *context, const char *code, struct id *ret_id)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(CODE_LIMIT), opened = BUF_INIT(CODE_LIMIT);
	struct err ignored = ERR_INIT;

	if (strlen(code) > CODE_LIMIT || crypto_base64_decode(code, &sealed) < 0 ||
		keyring_open(store->keyring, context, buf_bytes(&sealed), &opened, &ignored) < 0)
		return false;
	text_copy(ret_id->text, sizeof(ret_id->text), buf_str(&opened));
	return true;
}
