/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/record.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/base.h"
#include "common/err.h"
#include "worker/exec/workdir.h"

int record_open(int top, int *ret_fd, struct err *err)
{
	int fd = beneath_open(top, WORKDIR_OUTPUT, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0) {
		err_errno(err, WORKDIR_OUTPUT);
		closep(&fd);
		return -1;
	}
	*ret_fd = fd;
	return 0;
}

bool record_is_open(int top)
{
	_cleanup_(closep) int fd = beneath_open(top, WORKDIR_OUTPUT, O_RDONLY, 0);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}
