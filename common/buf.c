/* SPDX-License-Identifier: MPL-2.0 */
#include "common/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"

static int buf_reserve(struct buf *buf, size_t more)
{
	size_t need = buf->len + more;

	if (more > buf->limit || need > buf->limit)
		return -1;
	if (need + 1 > buf->cap) {
		size_t cap = buf->cap * 2 > need + 1 ? buf->cap * 2 : need + 1;

		buf->cap = cap < 64 ? 64 : cap;
		buf->data = mem_resize(buf->data, buf->cap, 1);
	}
	return 0;
}

int buf_append(struct buf *buf, const void *bytes, size_t len)
{
	if (buf_reserve(buf, len) < 0)
		return -1;
	if (len)
		memcpy(buf->data + buf->len, bytes, len);
	buf->len += len;
	buf->data[buf->len] = '\0';
	return 0;
}

int buf_grow(struct buf *buf, size_t len)
{
	if (buf_reserve(buf, len) < 0)
		return -1;
	buf->len += len;
	buf->data[buf->len] = '\0';
	return 0;
}

int buf_text(struct buf *buf, const char *text)
{
	return buf_append(buf, text, strlen(text));
}

int buf_url(struct buf *buf, const char *text)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.~";
	size_t before = buf->len;

	for (; *text; text++)
		if ((strchr(plain, *text) ? buf_append(buf, text, 1)
					  : buf_printf(buf, "%%%02X", (unsigned char)*text)) < 0) {
			buf_cut(buf, before);
			return -1;
		}
	return 0;
}

int buf_printf(struct buf *buf, const char *format, ...)
{
	char *text = NULL;
	va_list args;
	int len;
	int result = -1;

	va_start(args, format);
	len = vasprintf(&text, format, args);
	va_end(args);
	if (len >= 0) {
		result = buf_append(buf, text, (size_t)len);
		free(text);
	}
	return result;
}

void buf_consume(struct buf *buf, size_t len)
{
	if (!len)
		return;
	memmove(buf->data, buf->data + len, buf->len - len);
	buf->len -= len;
	buf->data[buf->len] = '\0';
}

void buf_cut(struct buf *buf, size_t len)
{
	if (len >= buf->len)
		return;
	buf->len = len;
	buf->data[len] = '\0';
}

void buf_reset(struct buf *buf)
{
	buf->len = 0;
	if (buf->data)
		buf->data[0] = '\0';
}

const char *buf_str(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

struct bytes buf_bytes(const struct buf *buf)
{
	return (struct bytes){buf_str(buf), buf->len};
}

struct bytes text_bytes(const char *text)
{
	return (struct bytes){text, strlen(text)};
}

char *buf_take(struct buf *buf)
{
	char *data = buf->data ? buf->data : mem_text("");

	buf->data = NULL;
	buf->len = buf->cap = 0;
	return data;
}

void buf_release(struct buf *buf)
{
	free(buf->data);
	buf->data = NULL;
	buf->len = buf->cap = 0;
}

int buf_read(struct buf *buf, int fd)
{
	char chunk[65536];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		if (buf_append(buf, chunk, (size_t)got) < 0) {
			errno = EFBIG;
			return -1;
		}
	}
	return got < 0 ? -1 : 0;
}

int buf_read_file(struct buf *buf, const char *path, struct err *err)
{
	_cleanup_(closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0 && buf_read(buf, fd) == 0)
		return 0;
	if (errno == EFBIG)
		return err_set(err, ERR_TOO_LARGE, "%s: larger than %zu bytes", path, buf->limit);
	return err_errno(err, path);
}

int write_fully(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		len -= (size_t)done;
	}
	return 0;
}
