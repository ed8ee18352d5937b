/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/mirror/downloads.h"

#include <pthread.h>

#include "common/err.h"
#include "common/http/httpd.h"

struct download {
	char address[HTTP_ADDRESS_SIZE];
	struct http_source source;
	bool used;
};

static struct {
	pthread_mutex_t mutex;
	struct download all[MAX_DOWNLOADS];
} downloads = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* A free place, or NULL. */
static struct download *place_take(const char *address)
{
	struct download *found = NULL;
	int of_address = 0;

	pthread_mutex_lock(&downloads.mutex);
	for (size_t i = 0; i < MAX_DOWNLOADS; i++) {
		if (!downloads.all[i].used)
			found = &downloads.all[i];
		else if (text_equal(downloads.all[i].address, address))
			of_address++;
	}
	if (of_address >= MAX_DOWNLOADS_OF_ADDRESS)
		found = NULL;
	if (found) {
		found->used = true;
		text_copy(found->address, sizeof(found->address), address);
	}
	pthread_mutex_unlock(&downloads.mutex);
	return found;
}

static size_t download_read(void *data, uint64_t position, char *bytes, size_t max)
{
	const struct download *download = data;

	return download->source.read(download->source.data, position, bytes, max);
}

static void download_release(void *data)
{
	struct download *download = data;

	http_source_release(&download->source);
	pthread_mutex_lock(&downloads.mutex);
	download->used = false;
	pthread_mutex_unlock(&downloads.mutex);
}

int download_count(const char *address, struct http_source *source, struct err *err)
{
	struct download *download = place_take(address);

	if (!download) {
		http_source_release(source);
		return err_set(err, ERR_UNAVAILABLE, "too many downloads are in progress: try again");
	}
	download->source = *source;
	*source = (struct http_source){
		.size = source->size, .read = download_read, .release = download_release, .data = download};
	return 0;
}
