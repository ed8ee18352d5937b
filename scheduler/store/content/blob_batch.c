/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_batch.h"

#include "scheduler/store/content/blob_batch.sql.h"
#include "scheduler/store/content/blobs.h"

enum { SEALED_LIMIT = 1 << 30 };

static int add(
	struct blob_batch *batch, struct store *store, const char *id, struct blob_content content, struct err *err)
{
	_cleanup_(freep) char *context = content.use ? mem_printf("%s:%s", id, content.use) : mem_text(id);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);

	if (keyring_seal(store->keyring, context, content.bytes, &sealed) < 0 ||
		db_bytes_add(&batch->sealed, sealed.data, sealed.len) < 0)
		return err_set(err, ERR_TOO_LARGE, "more than %d bytes", SEALED_LIMIT);
	db_array_add(&batch->ids, id);
	db_array_add_int(&batch->sizes, (long long)content.bytes.len);
	return 0;
}

int blob_add_as(
	struct blob_batch *batch, struct store *store, struct blob_content content, struct id *ret_id, struct err *err)
{
	*ret_id = id_new("blob");
	return add(batch, store, ret_id->text, content, err);
}

int blob_add(struct blob_batch *batch, struct store *store, struct bytes content, struct id *ret_id, struct err *err)
{
	return blob_add_as(batch, store, (struct blob_content){.bytes = content}, ret_id, err);
}

int blob_add_shared(
	struct blob_batch *batch, struct store *store, struct bytes content, struct id *ret_id, struct err *err)
{
	char digest[SHA256_HEX_SIZE];

	crypto_sha256_hex(content.data, content.len, digest);
	*ret_id = blob_shared_id(store, digest);
	return add(batch, store, ret_id->text, (struct blob_content){.bytes = content}, err);
}

int blobs_insert(struct blob_batch *batch, struct store *store, struct err *err)
{
	if (!batch->ids.count)
		return 0;
	return db_queue(
		store->db, err, blobs_insert, .ids = &batch->ids, .sizes = &batch->sizes, .sealed = &batch->sealed);
}

void blob_batch_release(struct blob_batch *batch)
{
	db_array_release(&batch->ids);
	db_array_release(&batch->sizes);
	db_bytes_release(&batch->sealed);
}
