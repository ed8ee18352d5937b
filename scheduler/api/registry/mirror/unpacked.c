/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/mirror/unpacked.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "common/crypto.h"
#include "common/http/httpd.h"
#include "scheduler/api/registry/mirror/within.h"

/* PACKAGE_LIMIT keeps all sizes and offsets of the zip within 32 bits. */
enum { MAX_FILES = 1000, MAX_DEPTH = 8, MAX_NAME = 512, LIST_LIMIT = 1 << 20, HEADERS_LIMIT = 1 << 20 };
#define PACKAGE_LIMIT (2ull << 30)

struct file {
	char *name; /* below the package's folder; owned */
	uint64_t size;
	bool executable;
	uint32_t checksum;  /* set when it was sent */
	uint32_t header_at; /* the same */
};

struct unpacked {
	int folder;
	struct file files[MAX_FILES];
	size_t count;
	uint64_t size, mark;
	/* What is being sent: */
	size_t next;       /* the file after the current one */
	int fd;            /* of the current file, or -1 */
	uint64_t left;     /* of it */
	uint64_t position; /* bytes of the zip that were sent or are in `ready` */
	bool ended;
	struct buf ready; /* headers to be sent before anything else */
};

/* ---- its files ---- */

static int file_add(struct unpacked *package, const char *name, const struct stat *info)
{
	_cleanup_(freep) char *mark = mem_printf("%s %lld %lld %lld %lld", name, (long long)info->st_ino,
		(long long)info->st_size, (long long)info->st_mtim.tv_sec, (long long)info->st_mtim.tv_nsec);

	package->size += (uint64_t)info->st_size;
	if (package->count == MAX_FILES || package->size > PACKAGE_LIMIT || strlen(name) > MAX_NAME)
		return -1;
	package->mark = text_hash(package->mark, mark);
	package->files[package->count++] = (struct file){
		.name = mem_text(name), .size = (uint64_t)info->st_size, .executable = info->st_mode & S_IXUSR};
	return 0;
}

static int files_add(struct unpacked *package, const char *path, int depth)
{
	_cleanup_(within_closep) DIR *list =
		depth < MAX_DEPTH ? within_list(package->folder, *path ? path : ".") : NULL;
	const char *name;
	int result = list ? 0 : -1;

	while (result == 0 && (name = within_next(list))) {
		_cleanup_(freep) char *below = mem_printf("%s%s%s", path, *path ? "/" : "", name);
		struct stat info;
		_cleanup_(closep) int fd = within_open(package->folder, below, &info);

		if (fd < 0)
			result = -1;
		else
			result = S_ISDIR(info.st_mode) ? files_add(package, below, depth + 1)
						       : file_add(package, below, &info);
	}
	return result;
}

static int file_order(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

struct unpacked *unpacked_open(int folder, const char *path)
{
	struct stat info;
	int fd = within_open(folder, path, &info);
	struct unpacked *package;

	if (fd < 0)
		return NULL;
	package = mem_new(1, sizeof(*package));
	*package = (struct unpacked){.folder = fd, .fd = -1, .mark = TEXT_HASH, .ready = BUF_INIT(HEADERS_LIMIT)};
	if (!S_ISDIR(info.st_mode) || files_add(package, "", 0) < 0 || !package->count) {
		unpacked_free(package);
		return NULL;
	}
	qsort(package->files, package->count, sizeof(*package->files), file_order);
	return package;
}

void unpacked_free(struct unpacked *package)
{
	if (!package)
		return;
	for (size_t i = 0; i < package->count; i++)
		free(package->files[i].name);
	closep(&package->fd);
	close(package->folder);
	buf_release(&package->ready);
	free(package);
}

uint64_t unpacked_mark(const struct unpacked *package)
{
	return package->mark;
}

char *unpacked_hash(const struct unpacked *package)
{
	_cleanup_(buf_release) struct buf list = BUF_INIT(LIST_LIMIT);
	_cleanup_(freep) char *base64 = NULL;
	unsigned char digest[SHA256_SIZE];
	char hex[SHA256_HEX_SIZE];

	for (size_t i = 0; i < package->count; i++) {
		_cleanup_(closep) int fd = within_open(package->folder, package->files[i].name, NULL);

		if (fd < 0 || crypto_sha256_file(fd, hex) < 0 ||
			buf_printf(&list, "%s  %s\n", hex, package->files[i].name) < 0)
			return NULL;
	}
	if (!EVP_Digest(list.data, list.len, digest, NULL, EVP_sha256(), NULL))
		mem_out();
	base64 = crypto_base64(digest, sizeof(digest));
	return mem_printf("h1:%s", base64);
}

/* ---- the zip: APPNOTE.TXT of PKWARE, 4.3. The checksum of a file follows its content ---- */

enum {
	HEADER_SIZE = 30,
	DESCRIPTOR_SIZE = 16,
	ENTRY_SIZE = 46,
	END_SIZE = 22,
	VERSION = 20,
	FROM_UNIX = 3 << 8,
	CHECKSUM_FOLLOWS = 1 << 3,
	NAME_IS_UTF8 = 1 << 11,
	FIRST_DAY = 1 << 5 | 1, /* 1980-01-01 */
};

static uint32_t checksum_add(uint32_t checksum, const char *bytes, size_t len)
{
	static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
		0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4,
		0xa00ae278, 0xbdbdf21c};

	checksum = ~checksum;
	for (size_t i = 0; i < len; i++) {
		checksum ^= (unsigned char)bytes[i];
		checksum = checksum >> 4 ^ table[checksum & 15];
		checksum = checksum >> 4 ^ table[checksum & 15];
	}
	return ~checksum;
}

static void put(struct buf *out, uint32_t value, int bytes)
{
	for (int i = 0; i < bytes; i++, value >>= 8)
		buf_append(out, &(char){(char)(value & 0xff)}, 1);
}

/* The fields that a file's header and its entry in the directory share. */
static void put_file(struct buf *out, const struct file *file, uint32_t size)
{
	put(out, VERSION, 2);
	put(out, CHECKSUM_FOLLOWS | NAME_IS_UTF8, 2);
	put(out, 0, 2); /* stored */
	put(out, 0, 2); /* midnight */
	put(out, FIRST_DAY, 2);
	put(out, file->checksum, 4);
	put(out, size, 4);
	put(out, size, 4);
	put(out, (uint32_t)strlen(file->name), 2);
	put(out, 0, 2);
}

static void put_header(struct buf *out, const struct file *file)
{
	buf_append(out, "PK\x03\x04", 4);
	put_file(out, file, 0);
	buf_text(out, file->name);
}

static void put_descriptor(struct buf *out, const struct file *file)
{
	buf_append(out, "PK\x07\x08", 4);
	put(out, file->checksum, 4);
	put(out, (uint32_t)file->size, 4);
	put(out, (uint32_t)file->size, 4);
}

static void put_entry(struct buf *out, const struct file *file)
{
	buf_append(out, "PK\x01\x02", 4);
	put(out, FROM_UNIX | VERSION, 2);
	put_file(out, file, (uint32_t)file->size);
	put(out, 0, 2 + 2 + 2); /* no comment, disk 0, binary; `put` writes zeros */
	put(out, (uint32_t)(S_IFREG | (file->executable ? 0755 : 0644)) << 16, 4);
	put(out, file->header_at, 4);
	buf_text(out, file->name);
}

static void put_directory(struct unpacked *package)
{
	uint32_t at = (uint32_t)package->position;
	size_t before = package->ready.len;

	for (size_t i = 0; i < package->count; i++)
		put_entry(&package->ready, &package->files[i]);
	before = package->ready.len - before;
	buf_append(&package->ready, "PK\x05\x06", 4);
	put(&package->ready, 0, 4);
	put(&package->ready, (uint32_t)package->count, 2);
	put(&package->ready, (uint32_t)package->count, 2);
	put(&package->ready, (uint32_t)before, 4);
	put(&package->ready, at, 4);
	put(&package->ready, 0, 2);
}

/* ---- sending ---- */

/* Opens the next file, or writes the directory after the last one. -1: the file has changed. */
static int next_begin(struct unpacked *package)
{
	struct file *file = &package->files[package->next];
	struct stat info;

	if (package->next == package->count) {
		package->ended = true;
		put_directory(package);
		return 0;
	}
	package->fd = within_open(package->folder, file->name, &info);
	if (package->fd < 0 || (uint64_t)info.st_size != file->size)
		return -1;
	file->header_at = (uint32_t)package->position;
	package->left = file->size;
	package->next++;
	put_header(&package->ready, file);
	package->position += package->ready.len;
	return 0;
}

/* The file's next bytes. 0: it became shorter. */
static size_t content_read(struct unpacked *package, char *bytes, size_t max)
{
	struct file *file = &package->files[package->next - 1];
	ssize_t len = read(package->fd, bytes, package->left < max ? (size_t)package->left : max);

	if (len <= 0)
		return 0;
	file->checksum = checksum_add(file->checksum, bytes, (size_t)len);
	package->left -= (uint64_t)len;
	package->position += (uint64_t)len;
	return (size_t)len;
}

static void content_end(struct unpacked *package)
{
	closep(&package->fd);
	put_descriptor(&package->ready, &package->files[package->next - 1]);
	package->position += DESCRIPTOR_SIZE;
}

static size_t zip_read(void *data, uint64_t position, char *bytes, size_t max)
{
	struct unpacked *package = data;

	(void)position;
	while (!package->ready.len) {
		if (package->fd >= 0 && package->left)
			return content_read(package, bytes, max);
		if (package->fd >= 0)
			content_end(package);
		else if (package->ended || next_begin(package) < 0)
			return 0;
	}
	max = package->ready.len < max ? package->ready.len : max;
	memcpy(bytes, package->ready.data, max);
	buf_consume(&package->ready, max);
	return max;
}

static void zip_release(void *data)
{
	unpacked_free(data);
}

void unpacked_send(struct unpacked *package, struct http_source *ret_source)
{
	uint64_t size = END_SIZE;

	for (size_t i = 0; i < package->count; i++) {
		const struct file *file = &package->files[i];

		size += HEADER_SIZE + DESCRIPTOR_SIZE + ENTRY_SIZE + 2 * strlen(file->name) + file->size;
	}
	*ret_source = (struct http_source){.size = size, .read = zip_read, .release = zip_release, .data = package};
}
