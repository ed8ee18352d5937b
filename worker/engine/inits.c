/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/inits.h"

#include <fcntl.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"

enum { MAX_KEPT = 256, LARGEST = 256 << 20 };

static const long long max_bytes = 1LL << 30;

struct kept_init {
	char key[SHA256_HEX_SIZE], digest[SHA256_HEX_SIZE];
	long long size;
	int64_t made_ms;
	bool ages;
	struct kept_init *next;
};

struct inits {
	int folder;
	int64_t ages_ms;
	struct kept_init *kept; /* most recently used first */
	size_t count;
	long long bytes;
};

int inits_open(const char *data_dir, int64_t ages_ms, struct inits **ret_inits, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/inits", data_dir);
	int folder = folder_make(path, true, err);

	if (folder < 0)
		return -1;
	*ret_inits = mem_new(1, sizeof(**ret_inits));
	**ret_inits = (struct inits){.folder = folder, .ages_ms = ages_ms};
	return 0;
}

static char *file_name(const char *key)
{
	return mem_printf("%s.tar.gz", key);
}

static struct kept_init **place_of(struct inits *inits, const char *key)
{
	struct kept_init **at = &inits->kept;

	while (*at && !text_equal((*at)->key, key))
		at = &(*at)->next;
	return at;
}

static struct kept_init *take_out(struct kept_init **at)
{
	struct kept_init *kept = *at;

	*at = kept->next;
	return kept;
}

static void put_first(struct inits *inits, struct kept_init *kept)
{
	kept->next = inits->kept;
	inits->kept = kept;
}

static void drop(struct inits *inits, struct kept_init **at)
{
	struct kept_init *kept = take_out(at);
	_cleanup_(freep) char *name = file_name(kept->key);

	unlinkat(inits->folder, name, 0);
	inits->count--;
	inits->bytes -= kept->size;
	free(kept);
}

void inits_free(struct inits *inits)
{
	if (!inits)
		return;
	while (inits->kept)
		drop(inits, &inits->kept);
	close(inits->folder);
	free(inits);
}

int inits_find(struct inits *inits, const char *key, int64_t now_ms, char ret_digest[SHA256_HEX_SIZE])
{
	struct kept_init **at = place_of(inits, key);
	_cleanup_(freep) char *name = file_name(key);

	if (!*at)
		return -1;
	if ((*at)->ages && now_ms - (*at)->made_ms > inits->ages_ms) {
		drop(inits, at);
		return -1;
	}
	put_first(inits, take_out(at));
	text_copy(ret_digest, SHA256_HEX_SIZE, inits->kept->digest);
	return beneath_open(inits->folder, name, O_RDONLY, 0);
}

static void make_room(struct inits *inits)
{
	while (inits->kept && (inits->count > MAX_KEPT || inits->bytes > max_bytes)) {
		struct kept_init **last = &inits->kept;

		while ((*last)->next)
			last = &(*last)->next;
		drop(inits, last);
	}
}

void inits_keep(struct inits *inits, const struct init_made *made, int folder, const char *name, int64_t now_ms)
{
	_cleanup_(freep) char *kept_name = file_name(made->key);
	struct kept_init *kept;

	inits_forget(inits, made->key);
	if (made->life == INIT_MOVES || (made->life == INIT_AGES && inits->ages_ms == 0) || made->size > LARGEST)
		return;
	if (linkat(folder, name, inits->folder, kept_name, 0) < 0)
		return;
	kept = mem_new(1, sizeof(*kept));
	kept->size = made->size;
	kept->made_ms = now_ms;
	kept->ages = made->life == INIT_AGES;
	text_copy(kept->key, sizeof(kept->key), made->key);
	text_copy(kept->digest, sizeof(kept->digest), made->digest);
	put_first(inits, kept);
	inits->count++;
	inits->bytes += made->size;
	make_room(inits);
}

void inits_forget(struct inits *inits, const char *key)
{
	struct kept_init **at = place_of(inits, key);

	if (*at)
		drop(inits, at);
}
