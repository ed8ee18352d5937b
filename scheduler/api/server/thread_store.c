/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/server/thread_store.h"

#include <pthread.h>

#include "common/err.h"

struct thread_stores {
	struct store template;
	struct store_settings settings; /* of all threads */
	const char *database_url;
	pthread_mutex_t closed; /* held until thread_stores_open */
	pthread_key_t key;
};

static void store_close(void *data)
{
	struct store *store = data;

	db_close(store->db);
	free(store);
}

struct thread_stores *thread_stores_new(const struct store *template, const char *database_url, struct err *err)
{
	struct thread_stores *stores = mem_new(1, sizeof(*stores));

	stores->template = *template;
	stores->settings = *template->settings;
	stores->template.settings = &stores->settings;
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
	*store = stores->template;
	store->db = db_open(stores->database_url);
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
