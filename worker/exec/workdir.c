/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/workdir.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/engine/variables.h"
#include "worker/limits/quota.h"
#include "worker/packages/archive.h"

static const struct archive_bounds configuration_bounds = {.files = 200 * 1000, .bytes = 2UL * 1024 * 1024 * 1024};

enum { TEXT_LIMIT = 16 * 1024 * 1024 };

/* ---- the folder ---- */

static int make_folders(struct workdir *dir, struct err *err)
{
	static const char *const folders[] = {"config", "state", "out", "home"};

	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		if (mkdirat(dir->root, folders[i], 0700) < 0)
			return err_errno(err, dir->path);
	return 0;
}

static int make_root(struct workdir *dir, struct err *err)
{
	if (mkdirat(dir->top, "root", 0700) < 0 ||
		(dir->root = beneath_open(dir->top, "root", O_RDONLY | O_DIRECTORY, 0)) < 0)
		return err_errno(err, dir->path);
	return 0;
}

/* The state's folder has a project of its own: see limits/quota.h. */
static int give_state(const struct workdir *dir, const struct quota *quota, uint32_t id, struct err *err)
{
	_cleanup_(closep) int fd = beneath_open(dir->root, "state", O_RDONLY | O_DIRECTORY, 0);

	return fd < 0 || quota_give(quota, fd, id) < 0 ? err_errno(err, dir->path) : 0;
}

static int make_limited(struct workdir *dir, const struct quota *quota, struct err *err)
{
	uint32_t id;

	if (quota_take(quota, dir->top, &id, err) < 0 || make_root(dir, err) < 0)
		return -1;
	if (quota_give(quota, dir->root, id) < 0)
		return err_errno(err, dir->path);
	return make_folders(dir, err) < 0 ? -1 : give_state(dir, quota, id + 1, err);
}

static int make_unlimited(struct workdir *dir, struct err *err)
{
	return make_root(dir, err) < 0 ? -1 : make_folders(dir, err);
}

int workdir_make(const struct workdir_place *place, const struct assignment *assignment, struct workdir *ret_dir,
	struct err *err)
{
	struct workdir dir = WORKDIR_INIT;

	dir.jobs = place->jobs;
	dir.name = mem_printf("%s-%d", assignment->job, assignment->attempt);
	dir.path = mem_printf("%s/%s", place->path, dir.name);
	if (beneath_remove(dir.jobs, dir.name) < 0 || mkdirat(dir.jobs, dir.name, 0700) < 0 ||
		(dir.top = beneath_open(dir.jobs, dir.name, O_RDONLY | O_DIRECTORY, 0)) < 0)
		err_errno(err, dir.path);
	else if ((place->quota ? make_limited(&dir, place->quota, err) : make_unlimited(&dir, err)) == 0) {
		*ret_dir = dir;
		return 0;
	}
	workdir_release(&dir);
	return -1;
}

void workdir_release(struct workdir *dir)
{
	closep(&dir->root);
	closep(&dir->top);
	free(dir->path);
	free(dir->name);
	*dir = (struct workdir)WORKDIR_INIT;
}

/* ---- its files ---- */

char *workdir_folder(const struct assignment *assignment)
{
	return mem_printf("config%s%s", *assignment->working_directory ? "/" : "", assignment->working_directory);
}

int workdir_seen(const struct assignment *assignment, const char *path, struct buf *out)
{
	const char *at;

	if (buf_text(out, "../") < 0)
		return -1;
	for (at = assignment->working_directory; *at; at = strchr(at, '/') ? strchr(at, '/') + 1 : "")
		if (buf_text(out, "../") < 0)
			return -1;
	return buf_text(out, path);
}

static const char default_workspace[] = "default";

/* Returns the default workspace for a name that is no folder name, because it would lead the state elsewhere. */
const char *workdir_workspace(const struct assignment *assignment)
{
	const char *name = assignment->workspace;

	return !*name || *name == '.' || strchr(name, '/') ? default_workspace : name;
}

/* An override file replaces the configuration's backend or cloud block. Engines read override files in the order of
 * their names, so this one sorts after ordinary ones; exec/backend finds the others. */
int workdir_override(const struct assignment *assignment, struct buf *out)
{
	if (buf_text(out, "terraform {\n  backend \"local\" {\n    path = \"") < 0 ||
		workdir_seen(assignment, WORKDIR_STATE, out) < 0 || buf_text(out, "\"\n    workspace_dir = \"") < 0 ||
		workdir_seen(assignment, WORKDIR_WORKSPACES, out) < 0)
		return -1;
	return buf_text(out, "\"\n  }\n}\n");
}

static bool has_part(const char *path, const char *part)
{
	size_t len = strlen(part);

	for (const char *at = path; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
		if (strncmp(at, part, len) == 0 && (!at[len] || at[len] == '/'))
			return true;
	return false;
}

/* Leaves out files that only this worker may provide:
 *  - .terraform: a provider in the archive would run as if it had been installed and checked.
 *  - .git: git runs here for modules, and would follow a .git/config.
 *  - State files in the working directory: they are not the workspace's state. init would try to migrate them, and an
 *    errored.tfstate would be taken for this apply's (upload/leftover). */
static bool configuration_wants(void *data, const char *path)
{
	static const char *const strays[] = {"terraform.tfstate", "errored.tfstate"};
	const char *folder = data; /* the working directory, with a slash at its end unless it is "" */

	for (size_t i = 0; i < ARRAY_LEN(strays); i++)
		if (text_starts(path, folder) && text_equal(path + strlen(folder), strays[i]))
			return false;
	return !has_part(path, ".terraform") && !has_part(path, ".git");
}

static int write_override(const struct workdir *dir, const struct assignment *assignment, struct err *err)
{
	_cleanup_(freep) char *folder = workdir_folder(assignment);
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, WORKDIR_OVERRIDE);
	_cleanup_(closep) int fd = beneath_open(dir->root, folder, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_(buf_release) struct buf text = BUF_INIT(65536);

	if (fd < 0)
		return err_set(err, ERR_INVALID, "the configuration has no folder \"%s\" to work in",
			assignment->working_directory);
	if (workdir_override(assignment, &text) < 0)
		return err_set(err, ERR_INVALID, "the working directory is too deep");
	if (beneath_write(dir->root, path, 0644, buf_bytes(&text), err) < 0)
		return err_context(err, "the backend can't be configured");
	return 0;
}

static int write_link(const struct workdir *dir, const struct assignment *assignment, struct err *err)
{
	const char *name = workdir_workspace(assignment);
	_cleanup_(freep) char *folder = mem_printf("%s/%s", WORKDIR_WORKSPACES, name);
	_cleanup_(freep) char *path = mem_printf("%s/terraform.tfstate", folder);

	if (text_equal(name, default_workspace))
		return 0;
	if (beneath_mkdirs(dir->root, folder) < 0 || symlinkat("../../" WORKDIR_STATE, dir->root, path) < 0)
		return err_errno(err, path);
	return 0;
}

/* A plan file contains the values of its variables, so an apply needs none of them. */
static int write_variables(const struct workdir *dir, const struct assignment *assignment, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(TEXT_LIMIT);

	if (assignment->stage != STAGE_PLAN)
		return 0;
	if (variables_file(assignment, &text) < 0)
		return err_set(err, ERR_TOO_LARGE, "the variables have more than %d bytes", TEXT_LIMIT);
	if (!text.len)
		return 0;
	return beneath_write(dir->root, WORKDIR_VARIABLES, 0600, buf_bytes(&text), err);
}

int workdir_write_again(
	const struct workdir *dir, const struct assignment *assignment, const json_t *names, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(TEXT_LIMIT);

	if (variables_file_of(assignment, names, &text) < 0)
		return err_set(err, ERR_TOO_LARGE, "the variables of the apply have more than %d bytes", TEXT_LIMIT);
	if (!text.len)
		return 0;
	return beneath_write(dir->root, WORKDIR_AGAIN, 0600, buf_bytes(&text), err);
}

int workdir_fill(const struct workdir *dir, const struct assignment *assignment, int archive, struct sha256 *digest,
	struct err *err)
{
	_cleanup_(freep) char *folder =
		mem_printf("%s%s", assignment->working_directory, *assignment->working_directory ? "/" : "");
	const struct archive_spec spec = {
		.bounds = configuration_bounds, .wanted = configuration_wants, .data = folder, .digest = digest};
	_cleanup_(closep) int config = beneath_open(dir->root, "config", O_RDONLY | O_DIRECTORY, 0);

	if (config < 0)
		return err_errno(err, dir->path);
	if (archive_unpack(archive, config, &spec, err) < 0)
		return err_context(err, "the configuration can't be unpacked");
	if (write_override(dir, assignment, err) < 0 || write_link(dir, assignment, err) < 0)
		return -1;
	if (write_variables(dir, assignment, err) < 0)
		return err_context(err, "the variables can't be written");
	return 0;
}
