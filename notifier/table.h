/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_TABLE_H
#define NOTIFIER_TABLE_H

/* A hash table of entries that are embedded in their owners. The keys are texts of the owners. Zero-initialize it. */

#include "common/base.h"

struct table_entry {
	const char *key; /* borrowed from the owner; NULL: in no table */
	uint32_t hash;
	struct table_entry *next;
};

struct table {
	struct table_entry **buckets;
	size_t bucket_count, count;
};

/* The key must not be in it yet. */
void table_add(struct table *table, struct table_entry *entry, const char *key);
/* NULL if there is none. */
struct table_entry *table_find(const struct table *table, const char *key);
/* Does nothing if the entry is in no table. */
void table_remove(struct table *table, struct table_entry *entry);
/* Calls fn for each entry, in no order. fn may remove its own entry and no other. */
void table_each(struct table *table, void (*fn)(void *data, struct table_entry *entry), void *data);
/* Frees the buckets. The entries belong to their owners. */
void table_release(struct table *table);

/* The owner of an entry: `table_owner(entry, struct delivery, entry)`. */
#define table_owner(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
