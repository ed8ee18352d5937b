/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/thread_store.h"

#include <pthread.h>

#include "common/err.h"
#include "scheduler/auth/auth_cache.h"

struct thread_stores {
	struct store settings;
	const char *database_url;
	pthread_mutex_t closed; /* held until thread_stores_open */
	pthread_key_t key;
};

static void store_close(void *data)
{
	struct store *store = data;

	db_close(store->db);
	auth_cache_free(store->cache);
	free(store);
}

struct thread_stores *thread_stores_new(const struct store *settings, const char *database_url, struct err *err)
{
	struct thread_stores *stores = mem_new(1, sizeof(*stores));

	stores->settings = *settings;
	stores->database_url = database_url;
	if (pthread_key_create(&stores->key, store_close) != 0) {
		free(stores);
		err_set(err, ERR_INTERNAL, "no more keys for thread data");
		return NULL;
	}
	pthread_mutex_init(&stores->closed, NULL);
	pthread_mutex_lock(&stores->closed);
	return stores;
}

void thread_stores_open(struct thread_stores *stores, const char *public_url)
{
	stores->settings.public_url = public_url;
	pthread_mutex_unlock(&stores->closed);
}

struct store *thread_store(struct thread_stores *stores)
{
	struct store *store = pthread_getspecific(stores->key);

	if (store)
		return store;
	pthread_mutex_lock(&stores->closed);
	pthread_mutex_unlock(&stores->closed);
	store = mem_new(1, sizeof(*store));
	*store = stores->settings;
	store->db = db_open(stores->database_url);
	store->cache = auth_cache_new();
	pthread_setspecific(stores->key, store);
	return store;
}

void thread_stores_free(struct thread_stores *stores)
{
	if (!stores)
		return;
	pthread_mutex_destroy(&stores->closed);
	pthread_key_delete(stores->key);
	free(stores);
}
