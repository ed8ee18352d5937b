/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/git/helper/helper.h"
#include "worker/git/helper/run.h"

enum { LIST_MAX = 64 << 20, MAX_REFS = 24, MESSAGE_MAX = 16 * 1024, SUBMODULES = 100, SUBMODULE_DEPTH = 8 };

/* ---- a commit ---- */

void commit_describe(struct work *work, const char *folder, const char *sha)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(MESSAGE_MAX);
	static const char *const names[] = {"commit", "author", "author-mail", "message"};
	size_t at = 0;

	if (git_run(work, folder, &out, "show", "-s", "--no-show-signature", "--encoding=UTF-8",
		    "--format=%H%x00%an%x00%ae%x00%B%x00", sha, "--", NULL) != 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *value = buf_str(&out) + at;
		size_t len = strnlen(value, out.len - at);

		record_add_bytes(&work->result, names[i], value, len);
		at += len < out.len - at ? len + 1 : len;
	}
}

static bool commit_is_there(struct work *work, const char *folder, const char *sha)
{
	_cleanup_(freep) char *commit = mem_printf("%s^{commit}", sha);

	return git_run(work, folder, NULL, "cat-file", "-e", commit, NULL) == 0;
}

/* The refs that had the commit when they were last seen; all branches and tags if none is known or `all`. */
static size_t refs_list(const struct work *work, bool all, const char *refs[MAX_REFS])
{
	struct record record;
	size_t count = 0;

	for (size_t at = 0; !all && record_next(work->order, &at, &record);)
		if (text_equal(record.name, "ref") && count < MAX_REFS)
			refs[count++] = record.value;
	if (count)
		return count;
	refs[0] = "+refs/heads/*:refs/runyard/heads/*";
	refs[1] = "+refs/tags/*:refs/runyard/tags/*";
	return 2;
}

static int refs_fetch(struct work *work, const char *folder, const char *url, const char *depth, bool all)
{
	const char *args[GIT_ARGS] = {"fetch", "-q", "--no-tags", "--no-write-fetch-head", depth, "--", url};
	size_t count = 7;

	if (!*depth)
		args[4] = "--no-recurse-submodules"; /* a harmless option in place of the depth */
	count += refs_list(work, all, args + count);
	args[count] = NULL;
	return git_run_list(work, folder, NULL, args);
}

/* For servers that give no commit by its name: through its refs, deeper and deeper. */
static bool commit_get_by_refs(struct work *work, const char *folder, const char *url, const char *sha)
{
	static const char *const depths[] = {"--depth=1", "--depth=50", "--depth=1000", "--unshallow", ""};

	for (int all = 0; all < 2; all++)
		for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
			int code = refs_fetch(work, folder, url, depths[i], all);

			if (commit_is_there(work, folder, sha))
				return true;
			if (code != 0 && git_lacks_ref(work))
				break;
		}
	return false;
}

static int repository_make(struct work *work, const char *folder)
{
	_cleanup_(freep) char *git = mem_printf("%s/.git", folder);
	struct stat info;

	mkdir(folder, 0755);
	if (stat(git, &info) == 0)
		return 0;
	if (git_run(work, folder, NULL, "init", "-q", "--template=", ".", NULL) == 0)
		return 0;
	work_failed_by_git(work, "git init");
	return -1;
}

int commit_get(struct work *work, const char *folder, const char *url, const char *sha)
{
	if (repository_make(work, folder) < 0)
		return -1;
	if (git_run(work, folder, NULL, "fetch", "-q", "--depth=1", "--no-tags", "--no-write-fetch-head", "--", url,
		    sha, NULL) == 0)
		return 0;
	if (!git_lacks_commit(work)) {
		work_failed_by_git(work, "Fetching the commit");
		return -1;
	}
	if (commit_get_by_refs(work, folder, url, sha))
		return 0;
	work_failed(work, "commit %s no longer exists in %s", sha, record_value(work->order, "identifier"));
	return -1;
}

/* ---- its files ---- */

static long long limit_of(const struct work *work, const char *name)
{
	long long limit = 0;

	text_number(record_value(work->order, name), 0, INT64_MAX / 2, &limit);
	return limit;
}

/* A path in the tree, or in a submodule. */
struct gitlink {
	char *path, *sha;
};

struct listing {
	struct work *work;
	struct gitlink links[SUBMODULES];
	size_t link_count;
};

static void listing_release(struct listing *listing)
{
	for (size_t i = 0; i < listing->link_count; i++) {
		free(listing->links[i].path);
		free(listing->links[i].sha);
	}
}

/* "<mode> <type> <sha> <size>\t<path>". The sizes are known before anything is unpacked. */
static int entry_read(struct listing *listing, const char *entry)
{
	const char *tab = strchr(entry, '\t');
	char mode[8], type[8], sha[72], size[24];
	long long bytes = 0;

	if (!tab || sscanf(entry, "%7s %7s %71s %23s", mode, type, sha, size) != 4)
		return -1;
	listing->work->files++;
	if (text_number(size, 0, INT64_MAX / 2, &bytes) == 0)
		listing->work->bytes += bytes;
	if (!text_equal(mode, "160000"))
		return 0;
	if (listing->link_count == SUBMODULES)
		return -1;
	listing->links[listing->link_count++] = (struct gitlink){mem_text(tab + 1), mem_text(sha)};
	return 0;
}

static int limits_check(struct work *work)
{
	long long max_files = limit_of(work, "max-files"), max_bytes = limit_of(work, "max-bytes");

	if (work->files > max_files) {
		work_failed(work, "The commit has more than %lld files (--fetch-files).", max_files);
		return -1;
	}
	if (work->bytes > max_bytes) {
		work_failed(work, "The files of the commit are larger than %lld MiB (--fetch-size).", max_bytes >> 20);
		return -1;
	}
	return 0;
}

static int files_list(struct listing *listing, const char *folder, const char *sha)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(LIST_MAX);
	struct work *work = listing->work;

	if (git_run(work, folder, &out, "ls-tree", "-r", "-l", "-z", "--full-tree", sha, NULL) != 0) {
		work_failed_by_git(work, "Listing the files");
		return -1;
	}
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1)
		if (entry_read(listing, out.data + at) < 0) {
			work_failed(work, "The commit has more than %d submodules.", SUBMODULES);
			return -1;
		}
	return limits_check(work);
}

static int check_out(struct work *work, const char *folder, const char *sha)
{
	if (git_run(work, folder, NULL, "checkout", "-q", "--force", "--detach", "--no-recurse-submodules", sha, "--",
		    NULL) == 0)
		return 0;
	work_failed_by_git(work, "Checking out the commit");
	return -1;
}

/* ---- submodules ---- */

static int tree_fetch(struct work *work, const char *folder, const char *url, const char *sha, int depth);

/* The URL of the submodule at `path`, from the commit's .gitmodules: entries are "<key>\n<value>". NULL: none. */
static char *submodule_url(struct work *work, const char *folder, const char *sha, const char *path)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(1 << 20);
	_cleanup_(freep) char *blob = mem_printf("%s:.gitmodules", sha), *wanted = NULL;

	if (git_run(work, folder, &out, "config", "-z", "--blob", blob, "--list", NULL) != 0)
		return NULL;
	for (size_t at = 0; at < out.len; at += strlen(out.data + at) + 1) {
		const char *key = out.data + at, *value = strchr(key, '\n');
		size_t len = value ? (size_t)(value - key) : 0;

		if (value && text_equal(value + 1, path) && len > 5 && !strncmp(value - 5, ".path", 5)) {
			free(wanted);
			wanted = mem_printf("%.*s.url", (int)len - 5, key);
		}
	}
	for (size_t at = 0; wanted && at < out.len; at += strlen(out.data + at) + 1) {
		const char *key = out.data + at, *value = strchr(key, '\n');

		if (value && (size_t)(value - key) == strlen(wanted) && !strncmp(key, wanted, strlen(wanted)))
			return mem_text(value + 1);
	}
	return NULL;
}

/* The kinds of addresses that the order permits, and the host, which the proxy must know. */
static bool submodule_permitted(struct work *work, const char *url)
{
	_cleanup_(freep) char *message = NULL;
	struct remote remote;

	if (!remote_parse(url, &remote))
		return false;
	if (remote.scheme == REMOTE_SSH ? !*record_value(work->order, "ssh-key")
					: remote.scheme != REMOTE_HTTPS && !remote_same_server(&remote, &work->remote))
		return false;
	message = mem_printf("%c%s", HELPER_URL, url);
	return send(STDIN_FILENO, message, strlen(message), MSG_NOSIGNAL) > 0;
}

/* The error names the submodule. */
static void submodule_blame(struct work *work, const char *path)
{
	_cleanup_(freep) char *outcome = mem_text(record_value(buf_bytes(&work->result), "outcome"));
	_cleanup_(freep) char *error =
		mem_printf("Submodule %.200s: %s", path, record_value(buf_bytes(&work->result), "error"));

	buf_reset(&work->result);
	record_add(&work->result, "outcome", outcome);
	record_add(&work->result, "error", error);
}

static int submodule_fetch(
	struct work *work, const char *folder, const char *url, const char *sha, const struct gitlink *link, int depth)
{
	_cleanup_(freep) char *given = submodule_url(work, folder, sha, link->path);
	_cleanup_(freep) char *resolved = given ? remote_resolve(url, given) : NULL;
	_cleanup_(freep) char *below = mem_printf("%s/%s", folder, link->path);

	if (!given) {
		work_failed(work, "Submodule %.200s: .gitmodules has no URL for it.", link->path);
		return -1;
	}
	if (!resolved || !submodule_permitted(work, resolved)) {
		work_failed(work, "Submodule %.200s: the address %.200s is not permitted.%s", link->path, given,
			resolved && text_starts(resolved, "ssh://") ? " The connection has no SSH key." : "");
		return -1;
	}
	if (++work->submodules > SUBMODULES || depth > SUBMODULE_DEPTH) {
		work_failed(work, "The commit has more than %d submodules, or they are nested deeper than %d.",
			SUBMODULES, SUBMODULE_DEPTH);
		return -1;
	}
	if (tree_fetch(work, below, resolved, link->sha, depth + 1) == 0)
		return 0;
	submodule_blame(work, link->path);
	return -1;
}

static int tree_fetch(struct work *work, const char *folder, const char *url, const char *sha, int depth)
{
	_cleanup_(listing_release) struct listing listing = {.work = work};

	if (commit_get(work, folder, url, sha) < 0 || files_list(&listing, folder, sha) < 0 ||
		check_out(work, folder, sha) < 0)
		return -1;
	if (!text_equal(record_value(work->order, "submodules"), "1"))
		return 0;
	for (size_t i = 0; i < listing.link_count; i++)
		if (submodule_fetch(work, folder, url, sha, &listing.links[i], depth) < 0)
			return -1;
	return 0;
}

void work_fetch(struct work *work)
{
	const char *sha = record_value(work->order, "sha");
	_cleanup_(freep) char *folder = mem_printf("%s/tree", record_value(work->order, "folder"));

	if (tree_fetch(work, folder, record_value(work->order, "url"), sha, 0) < 0)
		return;
	record_add(&work->result, "outcome", "done");
	commit_describe(work, folder, sha);
}
