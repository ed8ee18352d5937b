/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/table.h"

#include <string.h>

enum { FIRST_BUCKETS = 256 };

/* Tenants choose some keys (URLs), but each tenant has few of them. */
static uint32_t hash(const char *key)
{
	return (uint32_t)text_hash(TEXT_HASH, key);
}

static struct table_entry **bucket(const struct table *table, uint32_t value)
{
	return &table->buckets[value & (table->bucket_count - 1)];
}

static void grow(struct table *table)
{
	struct table larger = {.bucket_count = table->bucket_count ? table->bucket_count * 2 : FIRST_BUCKETS};
	struct table_entry *entry, *next;

	larger.buckets = mem_new(larger.bucket_count, sizeof(struct table_entry *));
	larger.count = table->count;
	for (size_t i = 0; i < table->bucket_count; i++)
		for (entry = table->buckets[i]; entry; entry = next) {
			struct table_entry **at = bucket(&larger, entry->hash);

			next = entry->next;
			entry->next = *at;
			*at = entry;
		}
	free(table->buckets);
	*table = larger;
}

void table_add(struct table *table, struct table_entry *entry, const char *key)
{
	struct table_entry **at;

	if (table->count >= table->bucket_count)
		grow(table);
	entry->key = key;
	entry->hash = hash(key);
	at = bucket(table, entry->hash);
	entry->next = *at;
	*at = entry;
	table->count++;
}

struct table_entry *table_find(const struct table *table, const char *key)
{
	uint32_t value = hash(key);
	struct table_entry *entry = table->bucket_count ? *bucket(table, value) : NULL;

	while (entry && (entry->hash != value || strcmp(entry->key, key) != 0))
		entry = entry->next;
	return entry;
}

void table_remove(struct table *table, struct table_entry *entry)
{
	struct table_entry **at;

	if (!entry->key)
		return;
	at = bucket(table, entry->hash);
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	*entry = (struct table_entry){0};
	table->count--;
}

void table_each(struct table *table, void (*fn)(void *data, struct table_entry *entry), void *data)
{
	struct table_entry *entry, *next;

	for (size_t i = 0; i < table->bucket_count; i++)
		for (entry = table->buckets[i]; entry; entry = next) {
			next = entry->next;
			fn(data, entry);
		}
}

void table_release(struct table *table)
{
	free(table->buckets);
	*table = (struct table){0};
}
