/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "worker/git/helper/run.h"

/*
 * Changed files. Only commits and folders are fetched, no files (--filter=blob:none), into the repository's cache:
 *
 *  - of a push, both commits alone ("push");
 *  - of a pull request or a new branch, their history ("history"), to find the commit where the branch began.
 */

enum { FILES_MAX = 32 << 20, MAX_FILES = 50000 };

static int cache_make(struct work *work, const char *folder)
{
	_cleanup_(freep) char *head = mem_printf("%s/HEAD", folder);
	struct stat info;

	mkdir(folder, 0700);
	if (stat(head, &info) == 0)
		return 0;
	if (git_run(work, folder, NULL, "init", "-q", "--bare", "--template=", ".", NULL) == 0)
		return 0;
	work_failed_by_git(work, "git init");
	return -1;
}

/* The files are not known; all workspaces count as touched. */
static void unknown(struct work *work, const char *note)
{
	buf_reset(&work->result);
	record_add(&work->result, "outcome", "done");
	record_add(&work->result, "note", note);
}

static void compare(struct work *work, const char *folder, const char *before, const char *sha)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(FILES_MAX);
	size_t count = 0;

	if (git_run(work, folder, &out, "diff-tree", "-r", "-z", "--name-only", "--no-renames", before, sha, "--",
		    NULL) != 0) {
		work_failed_by_git(work, "Comparing the commits");
		return;
	}
	record_add(&work->result, "outcome", "done");
	record_add(&work->result, "listed", "1");
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1, count++)
		if (count == MAX_FILES || record_add(&work->result, "file", out.data + at) < 0) {
			unknown(work, "The commits changed too many files to list.");
			return;
		}
	commit_describe(work, folder, sha);
}

static void diff_push(struct work *work, const char *folder, const char *url)
{
	const char *before = record_value(work->order, "before"), *sha = record_value(work->order, "sha");

	if (git_run(work, folder, NULL, "fetch", "-q", "--depth=1", "--filter=blob:none", "--no-tags",
		    "--no-write-fetch-head", "--", url, before, sha, NULL) == 0)
		compare(work, folder, before, sha);
	else if (git_lacks_commit(work))
		unknown(work, "The server does not have both commits any more.");
	else
		work_failed_by_git(work, "Fetching the commits");
}

/* The commit's refs, for servers that give no commits by their names. */
static int head_fetch(struct work *work, const char *folder, const char *url, const char *base)
{
	const char *sha = record_value(work->order, "sha");
	struct record record;
	int code = git_run(work, folder, NULL, "fetch", "-q", "--filter=blob:none", "--no-tags",
		"--no-write-fetch-head", "--", url, base, sha, NULL);

	for (size_t at = 0; code != 0 && git_lacks_commit(work) && record_next(work->order, &at, &record);)
		if (text_equal(record.name, "ref"))
			code = git_run(work, folder, NULL, "fetch", "-q", "--filter=blob:none", "--no-tags",
				"--no-write-fetch-head", "--", url, base, record.value, NULL);
	return code;
}

static void diff_branch(struct work *work, const char *folder, const char *url)
{
	const char *sha = record_value(work->order, "sha"), *branch = record_value(work->order, "base");
	_cleanup_(freep) char *base = mem_printf("+refs/heads/%s:refs/runyard/base", branch);
	_cleanup_(buf_release) struct buf found = BUF_INIT(4096);

	if (!*branch) {
		unknown(work, "The branch to compare with is not known.");
		return;
	}
	if (head_fetch(work, folder, url, base) != 0) {
		if (git_lacks_commit(work))
			unknown(work, "The server does not have the commit or the branch to compare with.");
		else
			work_failed_by_git(work, "Fetching the commits");
		return;
	}
	if (git_run(work, folder, &found, "merge-base", "refs/runyard/base", sha, NULL) != 0 || !found.len) {
		unknown(work, "The branches have no common commit.");
		return;
	}
	found.data[strcspn(found.data, "\n")] = '\0';
	compare(work, folder, found.data, sha);
}

void work_diff(struct work *work)
{
	bool push = *record_value(work->order, "before") != '\0';
	_cleanup_(freep) char *folder =
		mem_printf("%s/%s", record_value(work->order, "cache"), push ? "push" : "history");
	const char *url = record_value(work->order, "url");

	if (cache_make(work, folder) < 0)
		return;
	if (push)
		diff_push(work, folder, url);
	else
		diff_branch(work, folder, url);
}
