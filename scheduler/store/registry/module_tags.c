/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/module_tags.h"

#include "common/log.h"
#include "common/vcs/dialect.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_tags.sql.h"
#include "scheduler/store/names.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/vcs/events/commits.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/vcs/events/wake.h"
#include "scheduler/store/vcs/git_jobs.h"

/* New tags of one transaction. The others follow in the next ones. */
enum { MAX_NEW = 50, MAX_ARCHIVE = 512 << 20 };

int module_tags_changed(struct store *store, const char *repository_id, struct err *err)
{
	return db_queue(store->db, err, module_tags_due, .repository_id = repository_id);
}

int module_repository_looked(struct store *store, const char *repository_id, struct err *err)
{
	return db_queue(store->db, err, module_repository_looked, .repository_id = repository_id);
}

/* ---- the end of a fetch ---- */

/* The archive's digest; "" if the archive is in the object store: a transaction must not wait for it. */
static int digest_read(struct store *store, const char *blob_id, char ret_digest[SHA256_HEX_SIZE], long long *ret_size,
	struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(MAX_ARCHIVE);

	ret_digest[0] = '\0';
	if (blob_get(store, blob_id, &bytes, err) < 0)
		return err->kind == ERR_UNAVAILABLE ? 0 : -1;
	crypto_sha256_hex(bytes.data, bytes.len, ret_digest);
	*ret_size = (long long)bytes.len;
	return 0;
}

int module_content_end(struct store *store, const char *content_id, const char *sentence, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, ended = ROWS_INIT;
	char digest[SHA256_HEX_SIZE] = "";
	const char *blob_id = NULL;
	long long size = 0;

	if (db_query(store->db, &rows, err, module_content_awaited, .content_id = content_id) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (!sentence) {
		blob_id = row_of(module_content_awaited, &rows, 0)->blob_id;
		if (digest_read(store, blob_id, digest, &size, err) < 0)
			return -1;
	}
	if (db_query(store->db, &ended, err, module_content_end, .content_id = content_id, .blob_id = blob_id,
		    .sha256 = text_or_null(digest), .size = digest[0] ? &size : NULL, .sentence = sentence) < 0)
		return -1;
	for (int i = 0; !sentence && i < ended.count; i++)
		if (module_inspection_begin(store, row_of(module_content_end, &ended, i)->id, err) < 0)
			return -1;
	return vcs_wake(store, err); /* the modules may require tests */
}

/* ---- new tags ---- */

/* The content of a commit of the module's repository. */
static int content_of(struct store *store, const struct module_tags_pick_row *module, const char *sha,
	struct id *ret_content, bool *ret_stored, struct err *err)
{
	const struct vcs_commit commit = {.repository_id = module->repository_id,
		.sha = sha,
		.submodules = true,
		.directory = module->source_directory};

	return vcs_content_of(store, &commit, ret_content, ret_stored, err);
}

static int content_go_on(struct store *store, const struct id *content, bool stored, struct err *err)
{
	return stored ? module_content_end(store, content->text, NULL, err) : git_job_fetch(store, content->text, err);
}

static int tag_take(struct store *store, const struct module_tags_pick_row *module,
	const struct module_tags_new_row *tag, struct err *err)
{
	struct id content;
	bool stored;

	if (content_of(store, module, tag->sha, &content, &stored, err) < 0 ||
		db_query(store->db, NULL, err, module_tag_insert, .id = id_new("modver").text, .module_id = module->id,
			.version = tag->version, .source = vcs_provider_source(vcs_provider_of(module->provider)),
			.commit_sha = tag->sha, .tag = tag->tag, .content_id = content.text) < 0)
		return -1;
	return content_go_on(store, &content, stored, err);
}

static int tags_take(struct store *store, const struct module_tags_pick_row *module, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, module_tags_new, .module_id = module->id,
		    .repository_id = module->repository_id, .tag_prefix = module->tag_prefix, .max = MAX_NEW,
		    .versions_max = MAX_MODULE_VERSIONS) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (tag_take(store, module, row_of(module_tags_new, &rows, i), err) < 0)
			return -1;
	if (rows.count == MAX_NEW)
		return 0;
	if (db_query(store->db, NULL, err, module_tags_moved, .module_id = module->id,
		    .repository_id = module->repository_id) < 0)
		return -1;
	return db_query(store->db, NULL, err, module_tags_done, .id = module->id);
}

/* ---- requested versions ---- */

int module_version_request(
	struct store *store, const struct module_version_wish *wish, struct id *ret_id, struct err *err)
{
	static const char pointer[] = "/data/attributes/version";
	const struct module_version_draft *draft = &wish->draft;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("modver");

	if (module_version_check(draft->version, err) < 0)
		return -1;
	if (db_query(store->db, &rows, err, module_version_request, .id = id.text, .module_id = draft->module_id,
		    .version = draft->version, .source = vcs_provider_source(wish->provider),
		    .commit_sha = draft->commit_sha, .max = MAX_MODULE_VERSIONS) < 0)
		return value_taken(store, "registry_module_versions_version", "Version", pointer, err);
	if (!rows.count)
		return err_at(err, "/data", "A module can't have more than %d versions", MAX_MODULE_VERSIONS);
	if (db_query(store->db, NULL, err, module_repository_due, .id = draft->module_id) < 0)
		return -1;
	*ret_id = id;
	return draft->commit_sha ? vcs_wake(store, err) : vcs_look_now(store, wish->repository_id, err);
}

static int version_take(struct store *store, const struct module_tags_pick_row *module,
	const struct module_versions_requested_row *version, struct err *err)
{
	struct id content;
	bool stored;

	if (!module->repository_id || !*version->sha) {
		_cleanup_(freep) char *sentence = module->repository_id
			? mem_printf("The repository has no branch %s.", module->branch)
			: mem_text("The module has no repository any more.");

		return db_query(
			store->db, NULL, err, module_version_without_commit, .id = version->id, .sentence = sentence);
	}
	if (content_of(store, module, version->sha, &content, &stored, err) < 0 ||
		db_query(store->db, NULL, err, module_version_take, .id = version->id, .commit_sha = version->sha,
			.content_id = content.text) < 0)
		return -1;
	return content_go_on(store, &content, stored, err);
}

static int requests_take(struct store *store, const struct module_tags_pick_row *module, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, module_versions_requested, .module_id = module->id,
		    .repository_id = module->repository_id, .branch = module->branch) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (version_take(store, module, row_of(module_versions_requested, &rows, i), err) < 0)
			return -1;
	return 0;
}

static int repository_take(struct store *store, const struct module_tags_pick_row *module, struct err *err)
{
	if (requests_take(store, module, err) < 0)
		return -1;
	return *module->branch ? db_query(store->db, NULL, err, module_tags_done, .id = module->id)
			       : tags_take(store, module, err);
}

struct stepping {
	struct store *store;
	struct id module; /* the picked one; "": none */
};

static int step_in(void *data, struct err *err)
{
	struct stepping *stepping = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	stepping->module.text[0] = '\0';
	if (db_query(stepping->store->db, &rows, err, module_tags_pick) < 0)
		return -1;
	if (!rows.count)
		return 0;
	text_copy(stepping->module.text, ID_SIZE, row_of(module_tags_pick, &rows, 0)->id);
	return repository_take(stepping->store, row_of(module_tags_pick, &rows, 0), err);
}

int module_tags_step(struct store *store, bool *ret_more, struct err *err)
{
	struct stepping stepping = {.store = store};
	struct err why = ERR_INIT;
	int result = db_transaction(store->db, step_in, &stepping, &why);

	*ret_more = stepping.module.text[0] != '\0';
	if (result == 0)
		return 0;
	if (why.kind == ERR_UNAVAILABLE || !*ret_more) {
		*err = why;
		return -1;
	}
	/* It must not stop the others. The next change of a tag is another try. */
	log_error("the tags of a module can't be taken", "module", stepping.module.text, "error", why.message, NULL);
	return db_query(store->db, NULL, err, module_tags_done, .id = stepping.module.text);
}
