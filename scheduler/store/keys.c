/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/keys.h"

#include <endian.h>
#include <string.h>

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/keys.sql.h"

enum { MAX_REPORTED = 100, VALUE_LIMIT = 64 << 20 };

/* ---- the check at startup ---- */

/* A keyed digest: it does not reveal the key, and it differs for every key. */
static void check_value(const struct keyring *keyring, size_t place, char ret_value[SHA256_HEX_SIZE])
{
	unsigned char key[32];

	keyring_derive(keyring, place, "key-check", key);
	crypto_hmac_hex(key, sizeof(key), "runyard", ret_value);
}

static int wrong_key(uint32_t number, struct err *err)
{
	return err_set(err, ERR_INVALID,
		"--keys: key %u is not the key that this database has by that number. Give the right key, and give "
		"each new key a number that was never used",
		number);
}

static void number_bytes(uint32_t number, char ret_bytes[KEY_NUMBER_SIZE])
{
	uint32_t big = htobe32(number);

	memcpy(ret_bytes, &big, KEY_NUMBER_SIZE);
}

/* Verifies a new record, since a database from before this table has sealed rows without one. */
static int samples_check(struct store *store, uint32_t number, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char bytes[KEY_NUMBER_SIZE];

	number_bytes(number, bytes);
	if (db_script(store->db, "set local statement_timeout = 0", err) < 0 ||
		db_query(store->db, &rows, err, keys_samples, .bytes = db_blob(bytes, sizeof(bytes))) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct keys_samples_row *sample = row_of(keys_samples, &rows, i);
		_cleanup_(buf_release) struct buf opened = BUF_INIT(VALUE_LIMIT);
		struct err why = ERR_INIT;

		if (seal_open(store, sample->context, sample->sealed, &opened, &why) < 0)
			return wrong_key(number, err);
	}
	return 0;
}

struct checking {
	struct store *store;
	size_t place;
};

static int key_check(void *data, struct err *err)
{
	const struct checking *c = data;
	uint32_t number = keyring_number(c->store->keyring, c->place);
	_cleanup_(rows_release) struct rows made = ROWS_INIT, known = ROWS_INIT;
	char value[SHA256_HEX_SIZE];

	check_value(c->store->keyring, c->place, value);
	if (db_query(c->store->db, &made, err, key_insert, .number = number, .check_value = value) < 0)
		return -1;
	if (made.count)
		return samples_check(c->store, number, err);
	if (db_query(c->store->db, &known, err, key_check_value, .number = number) < 0)
		return -1;
	return text_equal(row_of(key_check_value, &known, 0)->check_value, value) ? 0 : wrong_key(number, err);
}

int keys_use(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, keys_use, .number = keyring_number(store->keyring, 0));
}

static int keys_check_use(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows used = ROWS_INIT;

	if (db_query(store->db, &used, err, keys_in_use) < 0)
		return -1;
	for (int i = 0; i < used.count; i++) {
		long long number = row_of(keys_in_use, &used, i)->number;

		if (!keyring_has(store->keyring, (uint32_t)number))
			return err_set(err, ERR_INVALID,
				"--keys lacks key %lld, and content is sealed with it: add the key behind the others. "
				"It can go after 'runyard-scheduler rotate-keys'",
				number);
	}
	return 0;
}

int keys_verify(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows known = ROWS_INIT;

	if (db_query(store->db, &known, err, keys_known) < 0)
		return -1;
	for (size_t place = 0; place < keyring_count(store->keyring); place++) {
		uint32_t number = keyring_number(store->keyring, place);
		char value[SHA256_HEX_SIZE];

		check_value(store->keyring, place, value);
		for (int i = 0; i < known.count; i++) {
			const struct keys_known_row *row = row_of(keys_known, &known, i);

			if (row->number == number && !text_equal(row->check_value, value))
				return wrong_key(number, err);
		}
	}
	return keys_check_use(store, err);
}

int keys_check(struct store *store, struct err *err)
{
	for (size_t place = 0; place < keyring_count(store->keyring); place++) {
		struct checking c = {store, place};

		if (db_transaction(store->db, key_check, &c, err) < 0)
			return -1;
	}
	return keys_check_use(store, err);
}

/* ---- rows of other keys ---- */

void keys_numbers(const struct store *store, struct db_bytes *ret_numbers)
{
	for (size_t place = 0; place < keyring_count(store->keyring); place++) {
		char bytes[KEY_NUMBER_SIZE];

		number_bytes(keyring_number(store->keyring, place), bytes);
		db_bytes_add(ret_numbers, bytes, sizeof(bytes));
	}
}

int keys_report_waiting(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(db_bytes_release) struct db_bytes numbers = DB_BYTES_INIT;

	keys_numbers(store, &numbers);
	if (db_query(store->db, &rows, err, keys_waiting, .numbers = &numbers, .max_reported = MAX_REPORTED) < 0)
		return -1;
	metric_set(M_JOBS_WITHOUT_KEY, "", (double)rows.count);
	if (!rows.count)
		return 0;
	const struct keys_waiting_row *first = row_of(keys_waiting, &rows, 0);
	_cleanup_(freep) char *count = mem_printf("%d", rows.count);
	_cleanup_(freep) char *key = mem_printf("%lld", first->number);
	log_warn("jobs wait for a scheduler that has their key: add it to --keys", "jobs", count, "key", key, "run",
		first->run_id, NULL);
	return 0;
}
