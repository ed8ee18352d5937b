/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/store.h"

#include <stdio.h>
#include <string.h>

enum { SEALED_LIMIT = 1 << 30 };

static int blob_insert(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct buf sealed = BUF_INIT(SEALED_LIMIT);
	int result;

	if (keyring_seal(store->keyring, id, bytes, len, &sealed) < 0)
		return err_set(err, ERR_TOO_LARGE, "more than %d bytes", SEALED_LIMIT);
	result = db_query(store->db, NULL, err,
		"insert into blobs (id, size, bytes_sealed) values ($1, $2, $3) on conflict (id) do nothing",
		P_TEXT(id), P_INT((long long)len), P_BYTES(sealed.data, sealed.len));
	buf_release(&sealed);
	return result;
}

int blob_put(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err)
{
	struct id id = id_new("blob");

	if (blob_insert(store, id.text, bytes, len, err) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

struct id blob_shared_id(struct store *store, const char *sha256_hex)
{
	unsigned char key[32];
	char keyed[SHA256_HEX_SIZE];
	struct id id;

	/* A bare digest would tell whoever reads the table that a guess of the content is right. */
	keyring_derive(store->keyring, "blob-id", key);
	crypto_hmac_hex(key, sizeof(key), sha256_hex, keyed);
	snprintf(id.text, sizeof(id.text), "blob-%.32s", keyed);
	return id;
}

int blob_put_shared(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err)
{
	char digest[SHA256_HEX_SIZE];
	struct id id;

	crypto_sha256_hex(bytes, len, digest);
	id = blob_shared_id(store, digest);
	if (blob_insert(store, id.text, bytes, len, err) < 0)
		return -1;
	*ret_id = id;
	return 0;
}

int blob_get(struct store *store, const char *id, struct buf *out, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf sealed = BUF_INIT(SEALED_LIMIT);
	int result;

	if (db_query(store->db, &rows, err, "select bytes_sealed from blobs where id = $1", P_TEXT(id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the content is not here");
	row_bytes(&rows, 0, "bytes_sealed", &sealed);
	result = keyring_open(store->keyring, id, sealed.data, sealed.len, out, err);
	buf_release(&sealed);
	return result;
}

void store_seal(struct store *store, const char *context, const char *text, struct buf *ret_sealed)
{
	keyring_seal(store->keyring, context, text, strlen(text), ret_sealed);
}

int store_open(struct store *store, const char *context, const struct rows *rows, int row, const char *column,
	struct buf *ret_text, struct err *err)
{
	struct buf sealed = BUF_INIT(SEALED_LIMIT);
	int result;

	row_bytes(rows, row, column, &sealed);
	result = keyring_open(store->keyring, context, buf_str(&sealed), sealed.len, ret_text, err);
	buf_release(&sealed);
	return result;
}
