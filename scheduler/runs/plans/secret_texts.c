/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/plans/secret_texts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PREFIX = 4, BUCKETS = 1 << 16, MAX_NOTED = 20000, MAX_NOTED_LENGTH = 1024 };

/* Bytes that are compared behind equal prefixes, over all texts. Only secrets made for it come close. */
#define MAX_COMPARED (1LL << 28)

struct secret {
	const char *text;
	size_t len;
	uint32_t next; /* of the same bucket: an index from 1, or 0 */
};

struct secret_texts {
	struct secret *items;
	uint32_t count;
	uint32_t *buckets; /* by the hash of the first four bytes: an index from 1, or 0 */
	long long compared;
	json_t *noted; /* the strings, as names of an object */
};

static uint32_t bucket_of(const char *text)
{
	uint32_t word;

	memcpy(&word, text, sizeof(word));
	return (word * 2654435761U) >> 16;
}

static void secret_add(struct secret_texts *secrets, const json_t *value)
{
	const char *text = json_string_value(value);
	size_t len = json_string_length(value);
	uint32_t bucket;

	if (len < PREFIX)
		return;
	bucket = bucket_of(text);
	secrets->items[secrets->count] = (struct secret){text, len, secrets->buckets[bucket]};
	secrets->buckets[bucket] = ++secrets->count;
}

struct secret_texts *secret_texts_new(const json_t *secrets)
{
	struct secret_texts *set = mem_new(1, sizeof(*set));
	json_t *value;
	size_t i;

	set->noted = json_object();
	set->items = mem_new(json_array_size(secrets) + 1, sizeof(*set->items));
	set->buckets = mem_new(BUCKETS, sizeof(*set->buckets));
	json_array_foreach((json_t *)secrets, i, value) secret_add(set, value);
	return set;
}

void secret_texts_free(struct secret_texts *secrets)
{
	if (!secrets)
		return;
	json_decref(secrets->noted);
	free(secrets->items);
	free(secrets->buckets);
	free(secrets);
}

static bool secret_is_at(struct secret_texts *secrets, const struct secret *secret, const char *text, size_t left)
{
	size_t same = 0;

	if (secret->len > left)
		return false;
	while (same < secret->len && secret->text[same] == text[same])
		same++;
	secrets->compared += (long long)same + 1;
	return same == secret->len;
}

bool secret_texts_in(struct secret_texts *secrets, const char *text, size_t len)
{
	if (!secrets->count)
		return false;
	for (size_t i = 0; i + PREFIX <= len; i++)
		for (uint32_t at = secrets->buckets[bucket_of(text + i)]; at; at = secrets->items[at - 1].next)
			if (secret_is_at(secrets, &secrets->items[at - 1], text + i, len - i) ||
				secrets->compared > MAX_COMPARED)
				return true;
	return secrets->compared > MAX_COMPARED;
}

bool secret_texts_in_value(struct secret_texts *secrets, const json_t *value)
{
	char digits[64];

	if (json_is_string(value))
		return secret_texts_in(secrets, json_string_value(value), json_string_length(value));
	if (json_is_integer(value))
		snprintf(digits, sizeof(digits), "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		snprintf(digits, sizeof(digits), "%.15g", json_real_value(value));
	else
		return false;
	return secret_texts_in(secrets, digits, strlen(digits));
}

void secret_texts_note(struct secret_texts *secrets, const json_t *value)
{
	size_t len = json_string_length(value), i;
	const char *key;
	json_t *member;

	json_object_foreach((json_t *)value, key, member) secret_texts_note(secrets, member);
	json_array_foreach((json_t *)value, i, member) secret_texts_note(secrets, member);
	if (len >= PREFIX && len <= MAX_NOTED_LENGTH && json_object_size(secrets->noted) < MAX_NOTED)
		json_object_set_new_nocheck(secrets->noted, json_string_value(value), json_true());
}

bool secret_texts_noted(const struct secret_texts *secrets, const json_t *value)
{
	return json_is_string(value) && json_object_get(secrets->noted, json_string_value(value));
}
