/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/etc.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/network/plan.h"

enum { FILE_LIMIT = 4 * 1024 * 1024 };

#define RESOLV_CONF "resolv.conf"

static const char *const files[] = {
	"gai.conf",
	"group",
	"host.conf",
	"hosts",
	"ld.so.cache",
	"localtime",
	"mime.types",
	"nsswitch.conf",
	"passwd",
	"protocols",
	RESOLV_CONF,
	"services",
	"ssl/openssl.cnf",
	"timezone",
};

static const char *const folders[] = {"/etc/alternatives", "/etc/ca-certificates", "/etc/pki", "/etc/ssl/certs", NULL};

struct etc {
	char *path;
	bool isolated;
	int folder;
	struct timespec changed[ARRAY_LEN(files)]; /* modification time of the original when it was copied */
};

int etc_open(const char *data_dir, struct etc **ret_etc, struct err *err)
{
	struct etc *etc = mem_new(1, sizeof(*etc));

	etc->path = mem_printf("%s/etc", data_dir);
	beneath_remove(AT_FDCWD, etc->path);
	mkdir(etc->path, 0755);
	etc->folder = open(etc->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (etc->folder < 0) {
		err_errno(err, etc->path);
		etc_free(etc);
		return -1;
	}
	for (const char *const *at = folders; *at; at++)
		beneath_mkdirs(etc->folder, *at + strlen("/etc/"));
	etc_refresh(etc);
	*ret_etc = etc;
	return 0;
}

void etc_free(struct etc *etc)
{
	if (!etc)
		return;
	closep(&etc->folder);
	free(etc->path);
	free(etc);
}

/* Copies the file. If the original is a link (resolv.conf often is), copies its target. A job that opens the file
 * meanwhile gets the complete old or new one. */
static void copy_file(const struct etc *etc, const char *name, const char *original)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	_cleanup_(buf_release) struct buf rewritten = BUF_INIT(FILE_LIMIT);
	_cleanup_(freep) char *draft = mem_printf("%s.new", name);
	const struct buf *from = &text;
	struct err err = ERR_INIT;

	if (buf_read_file(&text, original, &err) < 0)
		return;
	if (etc->isolated && text_equal(name, RESOLV_CONF)) {
		if (network_resolv_conf(buf_str(&text), &rewritten) < 0)
			return;
		from = &rewritten;
	}
	if (beneath_write(etc->folder, draft, 0644, buf_bytes(from), &err) == 0)
		renameat(etc->folder, draft, etc->folder, name);
}

void etc_refresh(struct etc *etc)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		_cleanup_(freep) char *original = mem_printf("/etc/%s", files[i]);
		struct timespec *changed = &etc->changed[i];
		struct stat info;

		if (stat(original, &info) < 0 ||
			(info.st_mtim.tv_sec == changed->tv_sec && info.st_mtim.tv_nsec == changed->tv_nsec))
			continue;
		*changed = info.st_mtim;
		copy_file(etc, files[i], original);
	}
}

void etc_isolate(struct etc *etc)
{
	etc->isolated = true;
	memset(etc->changed, 0, sizeof(etc->changed)); /* all files are copied again */
}

const char *etc_path(const struct etc *etc)
{
	return etc->path;
}

const char *const *etc_folders(void)
{
	return folders;
}
