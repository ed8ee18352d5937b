/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blobs.h"

#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "scheduler/store/content/blobs.sql.h"
#include "scheduler/store/content/contents.h"

enum {
	SEALED_LIMIT = 1 << 30,
	PIECE = 256 << 10,         /* bytes of one piece of a blob that is read in parts */
	SEALED_PIECE = PIECE + 32, /* includes the key's number, the nonce and the tag (common/crypto.h) */
	CONTEXT_SIZE = ID_SIZE + 24,
	SMALL = 1 << 20, /* bytes of a content that is read without taking memory for it */
	COPIES = 4, /* of a content that is read: the hexadecimal digits of PostgreSQL's answer, sealed and opened */
};

/* ---- writing ---- */

/* Takes the sealed bytes. */
static int row_insert(struct store *store, const char *id, size_t size, struct buf *sealed, struct err *err)
{
	int result = db_queue(store->db, err, blob_insert, .id = id, .size = (long long)size,
		.bytes_sealed = db_blob(sealed->data, sealed->len));

	buf_release(sealed);
	return result;
}

static int blob_insert(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct buf sealed = BUF_INIT(SEALED_LIMIT);

	if (keyring_seal(store->keyring, id, (struct bytes){bytes, len}, &sealed) < 0)
		return err_set(err, ERR_TOO_LARGE, "more than %d bytes", SEALED_LIMIT);
	return row_insert(store, id, len, &sealed, err);
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

	/* A plain digest would let a reader of the table verify a guess of the content. */
	keyring_derive(store->keyring, 0, "blob-id", key);
	crypto_hmac_hex(key, sizeof(key), sha256_hex, keyed);
	snprintf(id.text, sizeof(id.text), "blob-%.32s", keyed);
	return id;
}

/* Locks an existing blob: a concurrent sweep waits for this transaction, and then sees that the blob is referenced. */
static int blob_hold(struct store *store, const char *id, bool *ret_there, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, blob_hold, .id = id) < 0)
		return -1;
	*ret_there = rows.count > 0;
	return 0;
}

int blob_put_shared(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err)
{
	char digest[SHA256_HEX_SIZE];
	bool there = false;
	struct id id;

	crypto_sha256_hex(bytes, len, digest);
	id = blob_shared_id(store, digest);
	if (blob_hold(store, id.text, &there, err) < 0 || (!there && blob_insert(store, id.text, bytes, len, err) < 0))
		return -1;
	*ret_id = id;
	return 0;
}

static void piece_context(const char *id, long long piece, char ret_context[CONTEXT_SIZE])
{
	snprintf(ret_context, CONTEXT_SIZE, "%s:%lld", id, piece);
}

int blob_put_pieces(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err)
{
	struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct id id = id_new("blob");

	for (size_t at = 0; at < len; at += PIECE) {
		struct bytes piece = {(const char *)bytes + at, len - at < PIECE ? len - at : PIECE};
		char context[CONTEXT_SIZE];

		piece_context(id.text, (long long)(at / PIECE), context);
		if (keyring_seal(store->keyring, context, piece, &sealed) < 0) {
			buf_release(&sealed);
			return err_set(err, ERR_TOO_LARGE, "more than %d bytes", SEALED_LIMIT);
		}
	}
	*ret_id = id;
	return row_insert(store, id.text, len, &sealed, err);
}

/* ---- reading ---- */

/* Appends the sealed bytes of `part` from the blob's row, or from the object that the row names. part.key is set here.
 */
static int sealed_read(
	struct store *store, const struct sealed_blob *blob, struct object_part part, struct buf *out, struct err *err)
{
	const struct buf *content;

	if (!blob->object_key) {
		hex_decode(blob->sealed, out);
		return 0;
	}
	text_copy(part.key, sizeof(part.key), blob->object_key);
	content = contents_find(store->contents, &part);
	if (!content)
		return err_set(err, ERR_UNAVAILABLE, "the content is in the object store: try again");
	return buf_append(out, buf_str(content), content->len);
}

int blob_open(struct store *store, const struct sealed_blob *blob, struct buf *out, struct err *err)
{
	_cleanup_(freep) char *context =
		blob->use ? mem_printf("%s:%s", blob->blob_id, blob->use) : mem_text(blob->blob_id);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);

	if (sealed_read(store, blob, (struct object_part){.from = 0}, &sealed, err) < 0)
		return -1;
	return keyring_open(store->keyring, context, buf_bytes(&sealed), out, err);
}

static int not_here(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "the content is not here");
}

int blob_read_within(struct store *store, blob_read_fn read, const void *data, struct buf *out, struct err *err)
{
	long long most = SMALL, size = 0;
	size_t taken = 0;
	int result;

	/* The state of a running apply may grow from one read to the next. */
	while ((result = read(store, data, most, out, &size, err)) == 0 && size > most) {
		memory_return(taken);
		taken = 0;
		if (memory_take((size_t)size * COPIES, err) < 0)
			return -1;
		taken = (size_t)size * COPIES;
		most = size;
	}
	memory_return(taken);
	return result;
}

static int blob_read(
	struct store *store, const void *data, long long most, struct buf *out, long long *ret_size, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct blob_get_row *row;

	if (db_query(store->db, &rows, err, blob_get, .id = data, .most = most) < 0)
		return -1;
	if (!rows.count)
		return not_here(err);
	row = row_of(blob_get, &rows, 0);
	*ret_size = row->size;
	return row->size > most
		? 0
		: blob_open(store, &(struct sealed_blob){row->blob_id, row->object_key, row->sealed, NULL}, out, err);
}

int blob_get(struct store *store, const char *id, struct buf *out, struct err *err)
{
	return blob_read_within(store, blob_read, id, out, err);
}

/* Consecutive pieces of a blob. */
struct pieces {
	const char *id;
	long long first, count;
};

static int pieces_read(struct store *store, const struct pieces *pieces, struct buf *out, struct err *err)
{
	const struct object_part part = {.from = pieces->first * SEALED_PIECE, .len = pieces->count * SEALED_PIECE};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct blob_pieces_read_row *row;

	if (db_query(store->db, &rows, err, blob_pieces_read, .id = pieces->id, .first_byte = part.from + 1,
		    .len = part.len) < 0)
		return -1;
	if (!rows.count)
		return not_here(err);
	row = row_of(blob_pieces_read, &rows, 0);
	return sealed_read(
		store, &(struct sealed_blob){pieces->id, row->object_key, row->sealed, NULL}, part, out, err);
}

static int pieces_open(
	struct store *store, const struct pieces *pieces, const struct buf *sealed, struct buf *out, struct err *err)
{
	for (size_t at = 0; at < sealed->len; at += SEALED_PIECE) {
		size_t len = sealed->len - at < SEALED_PIECE ? sealed->len - at : SEALED_PIECE;
		char context[CONTEXT_SIZE];

		piece_context(pieces->id, pieces->first + (long long)(at / SEALED_PIECE), context);
		if (keyring_open(store->keyring, context, (struct bytes){sealed->data + at, len}, out, err) < 0)
			return -1;
	}
	return 0;
}

int blob_get_part(struct store *store, const struct blob_range *range, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT), opened = BUF_INIT(SEALED_LIMIT);
	long long first = range->from / PIECE, last = (range->from + range->len - 1) / PIECE;
	long long skip = range->from - first * PIECE, len = range->len;
	const struct pieces pieces = {range->id, first, last - first + 1};

	if (len <= 0)
		return 0;
	if (pieces_read(store, &pieces, &sealed, err) < 0 || pieces_open(store, &pieces, &sealed, &opened, err) < 0)
		return -1;
	if ((long long)opened.len > skip)
		len = (long long)opened.len - skip < len ? (long long)opened.len - skip : len;
	else
		len = 0;
	return buf_append(out, buf_str(&opened) + (len ? skip : 0), (size_t)len);
}

/* ---- another key ---- */

static int pieces_seal(struct store *store, const char *id, const struct buf *content, struct buf *out)
{
	for (size_t at = 0; at < content->len; at += PIECE) {
		struct bytes piece = {content->data + at, content->len - at < PIECE ? content->len - at : PIECE};
		char context[CONTEXT_SIZE];

		piece_context(id, (long long)(at / PIECE), context);
		if (keyring_seal(store->keyring, context, piece, out) < 0)
			return -1;
	}
	return 0;
}

/* No column says how a blob was sealed: the seal opens in one way only. */
int blob_reseal(struct store *store, const char *id, struct bytes sealed, struct buf *out, struct err *err)
{
	_cleanup_(freep) char *base = mem_printf("%s:%s", id, BLOB_USE_BASE);
	const char *const contexts[] = {id, base};
	const struct buf bytes = {.data = (char *)sealed.data, .len = sealed.len, .limit = sealed.len};
	_cleanup_(buf_release) struct buf content = BUF_INIT(SEALED_LIMIT);

	for (size_t i = 0; i < ARRAY_LEN(contexts); i++) {
		if (keyring_open(store->keyring, contexts[i], sealed, &content, err) == 0)
			return keyring_seal(store->keyring, contexts[i], buf_bytes(&content), out);
		if (err->kind != ERR_INTERNAL)
			return -1;
	}
	if (pieces_open(store, &(struct pieces){.id = id}, &bytes, &content, err) < 0)
		return -1;
	*err = (struct err)ERR_INIT;
	return pieces_seal(store, id, &content, out);
}
