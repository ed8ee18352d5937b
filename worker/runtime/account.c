/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/runtime/account.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"
#include "common/err.h"
#include "worker/exec/tree.h"

/* ---- the data folder ---- */

static enum tree_step give_entry(void *data, int folder, const char *name)
{
	const struct passwd *account = data;
	struct stat info;

	if (fchownat(folder, name, account->pw_uid, account->pw_gid, AT_SYMLINK_NOFOLLOW) < 0 ||
		fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return TREE_NEXT;
	return S_ISDIR(info.st_mode) ? TREE_ENTER : TREE_NEXT;
}

static enum tree_step find_entry(void *data, int folder, const char *name)
{
	(void)folder;
	(void)name;
	*(bool *)data = false;
	return TREE_STOP;
}

/* Every worker's data directory contains its lock file. */
static bool is_workers(int folder)
{
	bool empty = true;
	const struct tree_visit visit = {.entry = find_entry, .data = &empty};

	return faccessat(folder, "lock", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
		(tree_walk(folder, ".", &visit) == 0 && empty);
}

/* Changes the owner of the directory itself last, so that the next start repeats an interrupted change of owner. */
static int folder_give(int folder, struct passwd *account)
{
	const struct tree_visit visit = {.entry = give_entry, .data = account};

	return tree_walk(folder, ".", &visit) < 0 || fchown(folder, account->pw_uid, account->pw_gid) < 0 ? -1 : 0;
}

static int data_give(const char *data_dir, struct passwd *account, struct err *err)
{
	_cleanup_(closep) int folder = open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct stat info;

	if (folder < 0 || fstat(folder, &info) < 0)
		return err_errno(err, data_dir);
	if (info.st_uid == account->pw_uid)
		return 0;
	if (info.st_uid != 0 || !is_workers(folder))
		return err_set(err, ERR_INVALID,
			"--data-dir %s is neither empty nor the data folder of a worker, and %s does not own it: name "
			"an "
			"empty folder",
			data_dir, account->pw_name);
	return folder_give(folder, account) < 0 ? err_errno(err, data_dir) : 0;
}

/* ---- the account ---- */

/* Looks up the account. Returns NULL and fills *err if the worker can't become it. */
static struct passwd *account_find(const char *name, struct err *err)
{
	struct passwd *account = getpwnam(name);

	if (!account)
		err_set(err, ERR_INVALID,
			"root started the worker, which runs as an account of its own, and there is no account %s: "
			"create it (useradd --system --user-group --home-dir /nonexistent --shell /usr/sbin/nologin "
			"%s), or name another one with --user",
			name, name);
	else if (account->pw_uid == 0)
		err_set(err, ERR_INVALID, "--user %s is root, and jobs never run as root: name another account", name);
	return account && account->pw_uid != 0 ? account : NULL;
}

/* Changing the user clears the parent-death signal and makes the process dumpable, so this function restores the
 * signal and makes the process undumpable again. */
static int become(const struct passwd *account, struct err *err)
{
	int death_signal = 0;

	prctl(PR_GET_PDEATHSIG, &death_signal);
	if (initgroups(account->pw_name, account->pw_gid) < 0 ||
		setresgid(account->pw_gid, account->pw_gid, account->pw_gid) < 0 ||
		setresuid(account->pw_uid, account->pw_uid, account->pw_uid) < 0)
		return err_set(err, ERR_INVALID, "the worker can't become the account %s: %s", account->pw_name,
			strerror(errno));
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, death_signal);
	return 0;
}

int account_drop(const char *name, const char *data_dir, struct err *err)
{
	struct passwd *account;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return err_errno(err, "PR_SET_NO_NEW_PRIVS");
	if (geteuid() != 0 && getuid() != 0)
		return 0;
	account = account_find(name, err);
	if (!account || data_give(data_dir, account, err) < 0 || become(account, err) < 0)
		return -1;
	if (access(data_dir, R_OK | W_OK | X_OK) < 0)
		return err_set(err, ERR_INVALID,
			"the account %s can't reach --data-dir %s: let it look through the folders above, or name a "
			"folder such as /var/lib/runyard-worker",
			name, data_dir);
	return 0;
}
