/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/intake/dead_letters.h"

#include <string.h>

#include "common/crypto.h"
#include "common/log.h"
#include "common/metrics.h"
#include "proto/topics.h"
#include "scheduler/intake/dead_letters.sql.h"
#include "scheduler/metrics.h"

enum { KEPT_DAYS = 30, MAX_KEPT = 10000, MAX_KEPT_BYTES = 256 << 20 };

/* Digest that identifies a dead letter: the same message has the same digest, whichever process found it and however
 * often. */
static void dead_letter_digest(const struct dead_letter *letter, char ret_digest[SHA256_HEX_SIZE])
{
	_cleanup_(freep) char *payload = crypto_base64(letter->payload, letter->len);
	_cleanup_(freep) char *text =
		mem_printf("%s %d %lld %s", letter->topic, letter->partition, letter->offset, payload);

	crypto_sha256_hex(text, strlen(text), ret_digest);
}

/* `message`: the message for the topic, or NULL. */
static int dead_letter_insert(
	struct store *store, const struct dead_letter *letter, const char *message, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	char digest[SHA256_HEX_SIZE];

	dead_letter_digest(letter, digest);
	if (db_query(store->db, &rows, err, dead_letter_insert, .topic = letter->topic, .partition = letter->partition,
		    .offset = letter->offset, .payload = db_blob(letter->payload, letter->len), .error = letter->error,
		    .reader = letter->reader, .size = (long long)letter->size, .digest = digest,
		    .announce_topic = topics[TOPIC_DEAD_LETTERS].name, .announcement = message) < 0)
		return -1;
	if (!rows.count)
		return 0;
	metric_addf(M_DEAD_LETTERS, 1, "topic=\"%s\"", topic_find(letter->topic)->name);
	log_warn("a message went to the dead letters", "topic", letter->topic, "reader", letter->reader, "error",
		letter->error, NULL);
	if (letter->len < letter->size)
		log_warn("a dead letter is too long to be kept whole: it can't be put back", "topic", letter->topic,
			NULL);
	return 0;
}

int dead_letters_put(struct store *store, const struct kafka_message *message, const char *why, struct err *err)
{
	json_auto_t *reason = json_string(why); /* NULL if it is not UTF-8, which a text column rejects */
	struct dead_letter letter = dead_letter_of(message, "scheduler", reason ? why : "it is not readable text");

	if (letter.len > MAX_LETTER_PAYLOAD)
		letter.len = MAX_LETTER_PAYLOAD;
	_cleanup_(freep) char *encoded = dead_letter_encode(&letter);
	return dead_letter_insert(store, &letter, encoded, err);
}

int dead_letters_store(struct store *store, const struct dead_letter *letter, struct err *err)
{
	return dead_letter_insert(store, letter, NULL, err);
}

int dead_letters_sweep(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, dead_letters_sweep, .kept_days = KEPT_DAYS, .max_kept = MAX_KEPT,
		.max_kept_bytes = MAX_KEPT_BYTES);
}
