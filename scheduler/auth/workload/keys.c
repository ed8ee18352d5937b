/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/workload/keys.h"

#include <pthread.h>

#include "common/clock.h"
#include "common/log.h"
#include "scheduler/auth/workload/keys.sql.h"
#include "scheduler/store/content/seals.h"

/* Followed by the key's id; store/key_rotation.sql has it, too. */
#define PRIVATE_SEAL "workload-key:"

enum { SEALED_LIMIT = 16 << 10, KEPT_MS = 60000 };

int workload_keys_published(struct store *store, json_t **ret_keys, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *keys;

	if (db_query(store->db, &rows, err, workload_keys_published) < 0)
		return -1;
	keys = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(keys, json_shown(row_of(workload_keys_published, &rows, i)->public_key));
	*ret_keys = json_pack("{so}", "keys", keys);
	return 0;
}

/* ---- making ---- */

static int key_insert(struct store *store, long long delay, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *private_key = NULL;
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	struct jose_signer *signer = NULL;
	json_auto_t *public_key = NULL;
	int result;

	if (jose_key_make(&private_key, err) < 0 || jose_signer_new(private_key, &signer, err) < 0)
		return -1;
	_cleanup_(freep) char *context = mem_printf(PRIVATE_SEAL "%s", jose_signer_id(signer));
	public_key = jose_signer_public(signer);
	_cleanup_(freep) char *text = json_text(public_key);
	seal_text(store, context, private_key, &sealed);
	result = db_query(store->db, NULL, err, workload_key_insert, .id = jose_signer_id(signer), .public_key = text,
		.private_sealed = db_blob(sealed.data, sealed.len), .delay = delay);
	if (result == 0)
		log_info("a key for the identities of runs was made", "id", jose_signer_id(signer), NULL);
	jose_signer_free(signer);
	return result;
}

static int make_due_in(void *data, struct err *err)
{
	struct store *store = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, NULL, err, workload_keys_lock) < 0 ||
		db_query(store->db, &rows, err, workload_keys_due, .days = WORKLOAD_KEY_DAYS) < 0)
		return -1;
	return rows.count ? key_insert(store, row_of(workload_keys_due, &rows, 0)->delay, err) : 0;
}

int workload_keys_sweep(struct store *store, struct err *err)
{
	if (db_transaction(store->db, make_due_in, store, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, workload_keys_expire);
}

int workload_keys_list(struct store *store, json_t **ret_keys, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *keys;

	if (db_query(store->db, &rows, err, workload_keys_list) < 0)
		return -1;
	keys = json_array();
	for (int i = 0; i < rows.count; i++) {
		const struct workload_keys_list_row *row = row_of(workload_keys_list, &rows, i);

		json_array_append_new(keys,
			json_pack("{ss ss ss}", "id", row->id, "signs-from", row->signs_from, "state", row->state));
	}
	*ret_keys = keys;
	return 0;
}

static int rotate_in(void *data, struct err *err)
{
	enum { A_DAY = 86400 };
	struct store *store = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, NULL, err, workload_keys_lock) < 0 ||
		db_query(store->db, &rows, err, workload_key_next) < 0)
		return -1;
	if (rows.count)
		return err_set(err, ERR_CONFLICT, "the next key is there already, and does not sign yet");
	return key_insert(store, A_DAY, err);
}

int workload_keys_rotate(struct store *store, struct err *err)
{
	return db_transaction(store->db, rotate_in, store, err);
}

static int replace_in(void *data, struct err *err)
{
	struct store *store = data;

	if (db_query(store->db, NULL, err, workload_keys_lock) < 0 ||
		db_query(store->db, NULL, err, workload_keys_withdraw) < 0)
		return -1;
	return key_insert(store, 0, err);
}

int workload_keys_replace(struct store *store, struct err *err)
{
	return db_transaction(store->db, replace_in, store, err);
}

/* ---- signing ---- */

struct kept_signer {
	struct jose_signer *signer;
	struct kept_signer *earlier;
};

/* Signers stay for the life of the process: other threads may sign with them. There are few. */
static struct {
	pthread_mutex_t lock;
	struct kept_signer *newest;
	int64_t read_at; /* in ms of a monotonic clock */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct jose_signer *kept_signer(void)
{
	const struct jose_signer *signer = NULL;

	pthread_mutex_lock(&kept.lock);
	if (kept.newest && clock_mono_ms() - kept.read_at < KEPT_MS)
		signer = kept.newest->signer;
	pthread_mutex_unlock(&kept.lock);
	return signer;
}

/* Takes the signer. */
static void newest_set(struct jose_signer *signer)
{
	struct kept_signer *newest = mem_new(1, sizeof(*newest));

	*newest = (struct kept_signer){.signer = signer, .earlier = kept.newest};
	kept.newest = newest;
}

/* Takes the signer. Returns the one to use. */
static const struct jose_signer *signer_keep(struct jose_signer *signer)
{
	pthread_mutex_lock(&kept.lock);
	if (kept.newest && text_equal(jose_signer_id(kept.newest->signer), jose_signer_id(signer)))
		jose_signer_free(signer);
	else
		newest_set(signer);
	kept.read_at = clock_mono_ms();
	signer = kept.newest->signer;
	pthread_mutex_unlock(&kept.lock);
	return signer;
}

static int signer_read(struct store *store, struct jose_signer **ret_signer, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *private_key = NULL;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct workload_key_signing_row *row;

	if (db_query(store->db, &rows, err, workload_key_signing) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "no key signs the identities of runs");
	row = row_of(workload_key_signing, &rows, 0);
	if (secret_open(store, row->private_sealed, PRIVATE_SEAL, row->id, &private_key, err) < 0)
		return -1;
	return jose_signer_new(private_key, ret_signer, err);
}

int workload_signer(struct store *store, const struct jose_signer **ret_signer, struct err *err)
{
	struct jose_signer *signer = NULL;

	*ret_signer = kept_signer();
	if (*ret_signer)
		return 0;
	if (signer_read(store, &signer, err) < 0) {
		if (err->kind != ERR_NOT_FOUND || workload_keys_sweep(store, err) < 0 ||
			signer_read(store, &signer, err) < 0)
			return -1;
		*err = (struct err)ERR_INIT;
	}
	*ret_signer = signer_keep(signer);
	return 0;
}
