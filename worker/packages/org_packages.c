/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/org_packages.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/crypto.h"
#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/packages/packages.h"

enum { MAX_KEPT = 4096, NAME_SIZE = 33 };

static const char trash[] = "removed";

struct kept_package {
	char owner[NAME_SIZE], hex[PACKAGE_HEX_SIZE];
	long long bytes;
	unsigned long long used; /* the last time at which a job may have begun to use it */
	struct kept_package *next;
};

struct org_user {
	char owner[NAME_SIZE]; /* the organization's folder */
	char *path;
	unsigned long long since; /* when the user entered */
	struct org_user *next;
};

struct org_packages {
	pthread_mutex_t lock; /* protects the members below */
	char *path;
	int folder;
	long long max_bytes, bytes; /* bytes, including copies in progress */
	size_t count;
	unsigned long long names; /* counter for names of unfinished copies and removed packages */
	unsigned long long now;   /* logical clock that orders the times above */
	struct kept_package *kept;
	struct org_user *users;
};

int org_packages_open(const char *data_dir, long long max_bytes, struct org_packages **ret_packages, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/organization-packages", data_dir);
	int folder = folder_make(path, true, err);
	struct org_packages *packages;

	if (folder < 0)
		return -1;
	packages = mem_new(1, sizeof(*packages));
	*packages = (struct org_packages){.path = path, .folder = folder, .max_bytes = max_bytes};
	pthread_mutex_init(&packages->lock, NULL);
	path = NULL;
	*ret_packages = packages;
	return 0;
}

void org_packages_free(struct org_packages *packages)
{
	if (!packages)
		return;
	for (struct kept_package *kept = packages->kept, *next; kept; kept = next) {
		next = kept->next;
		free(kept);
	}
	pthread_mutex_destroy(&packages->lock);
	close(packages->folder);
	free(packages->path);
	free(packages);
}

/* ---- users ---- */

static void owner_name(const char *organization, char ret_name[NAME_SIZE])
{
	char hex[SHA256_HEX_SIZE];

	crypto_sha256_hex(organization, strlen(organization), hex);
	snprintf(ret_name, NAME_SIZE, "%.*s", NAME_SIZE - 1, hex);
}

int org_packages_enter(
	struct org_packages *packages, const char *organization, struct org_user **ret_user, struct err *err)
{
	struct org_user *user = mem_new(1, sizeof(*user));
	int status;

	owner_name(organization, user->owner);
	user->path = mem_printf("%s/%s", packages->path, user->owner);
	pthread_mutex_lock(&packages->lock);
	user->since = packages->now++;
	status = beneath_mkdirs(packages->folder, user->owner);
	user->next = packages->users;
	packages->users = user;
	pthread_mutex_unlock(&packages->lock);
	if (status < 0) {
		err_errno(err, user->path);
		org_packages_leave(packages, user);
		return -1;
	}
	*ret_user = user;
	return 0;
}

static bool owner_is_busy(const struct org_packages *packages, const char *owner)
{
	for (const struct org_user *user = packages->users; user; user = user->next)
		if (text_equal(user->owner, owner))
			return true;
	return false;
}

void org_packages_leave(struct org_packages *packages, struct org_user *user)
{
	struct org_user **at = &packages->users;

	if (!user)
		return;
	pthread_mutex_lock(&packages->lock);
	while (*at != user)
		at = &(*at)->next;
	*at = user->next;
	if (!owner_is_busy(packages, user->owner))
		unlinkat(packages->folder, user->owner, AT_REMOVEDIR); /* succeeds only if it is empty */
	pthread_mutex_unlock(&packages->lock);
	free(user->path);
	free(user);
}

const char *org_user_path(const struct org_user *user)
{
	return user->path;
}

/* ---- packages ---- */

static void release(struct org_packages *packages, long long bytes)
{
	packages->bytes -= bytes;
	packages->count--;
}

static void package_drop(struct org_packages *packages, struct kept_package **at)
{
	struct kept_package *kept = *at;
	_cleanup_(freep) char *path = mem_printf("%s/%s", kept->owner, kept->hex);

	_cleanup_(freep) char *gone = mem_printf("%s/%llu", trash, packages->names++);

	/* Removing takes long, so org_packages_add does it after releasing the lock. */
	beneath_mkdirs(packages->folder, trash);
	if (renameat(packages->folder, path, packages->folder, gone) < 0)
		beneath_remove(packages->folder, path);
	*at = kept->next;
	release(packages, kept->bytes);
	free(kept);
}

static struct kept_package **package_find(struct org_packages *packages, const char *owner, const char *hex)
{
	struct kept_package **at = &packages->kept;

	while (*at && !(text_equal((*at)->owner, owner) && text_equal((*at)->hex, hex)))
		at = &(*at)->next;
	return at;
}

static bool use_locked(struct org_packages *packages, const char *owner, const char *hex)
{
	struct kept_package **at = package_find(packages, owner, hex);
	_cleanup_(freep) char *path = mem_printf("%s/%s", owner, hex);

	if (!*at)
		return false;
	if (faccessat(packages->folder, path, F_OK, 0) < 0) {
		package_drop(packages, at); /* it is missing on the disk */
		return false;
	}
	(*at)->used = packages->now++;
	return true;
}

bool org_packages_use(struct org_packages *packages, const struct org_user *user, const char *hex)
{
	bool found;

	pthread_mutex_lock(&packages->lock);
	found = use_locked(packages, user->owner, hex);
	pthread_mutex_unlock(&packages->lock);
	return found;
}

/* ---- room ---- */

/* True if a running job may use it. */
static bool package_in_use(const struct org_packages *packages, const struct kept_package *kept)
{
	for (const struct org_user *user = packages->users; user; user = user->next)
		if (text_equal(user->owner, kept->owner) && user->since < kept->used)
			return true;
	return false;
}

/* The least recently used package that may be removed, of one organization or of all (NULL). */
static struct kept_package **oldest(struct org_packages *packages, const char *owner)
{
	struct kept_package **found = NULL;

	for (struct kept_package **at = &packages->kept; *at; at = &(*at)->next)
		if ((!owner || text_equal((*at)->owner, owner)) && (!found || (*at)->used < (*found)->used) &&
			!package_in_use(packages, *at))
			found = at;
	return found;
}

static long long owner_bytes(const struct org_packages *packages, const char *owner)
{
	long long bytes = 0;

	for (const struct kept_package *kept = packages->kept; kept; kept = kept->next)
		if (text_equal(kept->owner, owner))
			bytes += kept->bytes;
	return bytes;
}

static bool make_room(struct org_packages *packages, const char *owner, long long bytes)
{
	struct kept_package **at;

	while (owner_bytes(packages, owner) + bytes > packages->max_bytes / 2) {
		if (!(at = oldest(packages, owner)))
			return false;
		package_drop(packages, at);
	}
	while (packages->bytes + bytes > packages->max_bytes || packages->count >= MAX_KEPT) {
		if (!(at = oldest(packages, NULL)))
			return false;
		package_drop(packages, at);
	}
	return true;
}

/* ---- adding ---- */

struct adding {
	struct org_packages *packages;
	const char *owner, *hex;
	long long bytes;
	char name[64]; /* of the copy, below the folder */
};

/* 1: the package is there. 0: there is room for it. -1: there is no room. */
static int reserve(struct adding *adding)
{
	struct org_packages *packages = adding->packages;
	int status;

	pthread_mutex_lock(&packages->lock);
	status = use_locked(packages, adding->owner, adding->hex)   ? 1
		: make_room(packages, adding->owner, adding->bytes) ? 0
								    : -1;
	if (status == 0) {
		packages->bytes += adding->bytes;
		packages->count++;
		snprintf(adding->name, sizeof(adding->name), "copy-%llu", packages->names++);
	}
	pthread_mutex_unlock(&packages->lock);
	return status;
}

/* Checks the hash of the copy, not of the original: a process of another job could still have the original open. */
static bool copy_is_right(const struct adding *adding, int package)
{
	int folder = adding->packages->folder;
	_cleanup_(closep) int copy = beneath_mkdirs(folder, adding->name) < 0
		? -1
		: beneath_open(folder, adding->name, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_(freep) char *hash = NULL;
	char hex[PACKAGE_HEX_SIZE];
	struct err err = ERR_INIT;

	return copy >= 0 && package_copy(package, copy, &err) == 0 && package_hash(copy, &hash, &err) == 0 &&
		hash_to_hex(hash, hex) == 0 && text_equal(hex, adding->hex);
}

/* Adds the copy, unless another job of the organization has added the same package meanwhile. */
static int publish(const struct adding *adding)
{
	struct org_packages *packages = adding->packages;
	_cleanup_(freep) char *path = mem_printf("%s/%s", adding->owner, adding->hex);
	struct kept_package *kept;

	if (use_locked(packages, adding->owner, adding->hex)) {
		release(packages, adding->bytes);
		return 0;
	}
	if (renameat(packages->folder, adding->name, packages->folder, path) < 0) {
		release(packages, adding->bytes);
		return -1;
	}
	kept = mem_new(1, sizeof(*kept));
	*kept = (struct kept_package){.bytes = adding->bytes, .used = packages->now++, .next = packages->kept};
	text_copy(kept->owner, sizeof(kept->owner), adding->owner);
	text_copy(kept->hex, sizeof(kept->hex), adding->hex);
	packages->kept = kept;
	return 0;
}

int org_packages_add(struct org_packages *packages, const struct org_user *user, int package, const char *hex)
{
	struct adding adding = {.packages = packages, .owner = user->owner, .hex = hex};
	int status;

	if (package_size(package, &adding.bytes) < 0)
		return -1;
	status = reserve(&adding);
	beneath_remove(packages->folder, trash);
	if (status != 0)
		return status < 0 ? -1 : 0;
	status = copy_is_right(&adding, package) ? 0 : -1;
	pthread_mutex_lock(&packages->lock);
	if (status == 0)
		status = publish(&adding);
	else
		release(packages, adding.bytes);
	pthread_mutex_unlock(&packages->lock);
	beneath_remove(packages->folder, adding.name);
	return status;
}
