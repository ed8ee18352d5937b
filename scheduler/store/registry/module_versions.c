/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/module_versions.h"

#include <string.h>

#include "scheduler/store/content/blobs.h"
#include "scheduler/store/names.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/registry/module_versions.sql.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/vcs/events/wake.h"

#define DIGITS      "0123456789"
#define IDENTIFIERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-" DIGITS

enum { MAX_DIGITS = 9 };

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "module version not found");
}

/* ---- semantic versions ---- */

/* Reads a number without leading zeros. */
static bool number_skip(const char **at)
{
	size_t len = strspn(*at, DIGITS);
	bool valid = len && len <= MAX_DIGITS && (len == 1 || **at != '0');

	*at += len;
	return valid;
}

/* Reads identifiers that dots separate. Those of a prerelease that are numbers have no leading zeros. */
static bool identifiers_skip(const char **at, bool prerelease)
{
	for (;;) {
		size_t len = strspn(*at, IDENTIFIERS);
		bool number = len && strspn(*at, DIGITS) >= len;

		if (!len || (prerelease && number && (len > MAX_DIGITS || (len > 1 && **at == '0'))))
			return false;
		*at += len;
		if (**at != '.')
			return true;
		++*at;
	}
}

bool module_version_valid(const char *version)
{
	const char *at = text_or_empty(version);

	if (strlen(at) > MAX_VERSION)
		return false;
	for (int part = 0; part < 3; part++)
		if ((part && *at++ != '.') || !number_skip(&at))
			return false;
	if (*at == '-' && (at++, !identifiers_skip(&at, true)))
		return false;
	if (*at == '+' && (at++, !identifiers_skip(&at, false)))
		return false;
	return !*at;
}

int module_version_check(const char *version, struct err *err)
{
	return module_version_valid(version) ? 0
					     : err_at(err, "/data/attributes/version",
						       "Version must be a semantic version, such as 1.2.3 or "
						       "1.2.3-beta.1");
}

/* ---- versions ---- */

int module_version_create(
	struct store *store, const struct module_version_draft *draft, struct id *ret_id, struct err *err)
{
	static const char pointer[] = "/data/attributes/version";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id id = id_new("modver");

	if (module_version_check(draft->version, err) < 0)
		return -1;
	if (db_query(store->db, &rows, err, module_version_create, .id = id.text, .module_id = draft->module_id,
		    .version = draft->version, .commit_sha = draft->commit_sha, .max = MAX_MODULE_VERSIONS) < 0)
		return value_taken(store, "registry_module_versions_version", "Version", pointer, err);
	if (!rows.count)
		return err_at(err, "/data", "A module can't have more than %d versions", MAX_MODULE_VERSIONS);
	*ret_id = id;
	return 0;
}

int module_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, module_version_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int module_version_find(
	struct store *store, const char *module_id, const char *version, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, module_version_find, .module_id = module_id, .version = version) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

/* ---- the content ---- */

struct upload {
	struct store *store;
	const char *id;
	struct bytes archive;
};

static int upload_in(void *data, struct err *err)
{
	const struct upload *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct module_version_lock_row *old;
	char digest[SHA256_HEX_SIZE];
	struct id blob;

	if (db_query(u->store->db, &rows, err, module_version_lock, .id = u->id) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	old = row_of(module_version_lock, &rows, 0);
	crypto_sha256_hex(u->archive.data, u->archive.len, digest);
	if (text_equal(old->sha256, digest))
		return 0;
	if (old->is_given)
		return err_set(err, ERR_CONFLICT,
			"the version was uploaded already, and downloaded: publish other content as another version");
	if (blob_put(u->store, u->archive.data, u->archive.len, &blob, err) < 0)
		return -1;
	if (db_query(u->store->db, NULL, err, module_version_set_content, .id = u->id, .blob_id = blob.text,
		    .sha256 = digest, .size = (long long)u->archive.len) < 0)
		return -1;
	/* The VCS thread starts the tests that the module may require. */
	return module_inspection_begin(u->store, u->id, err) < 0 ? -1 : vcs_wake(u->store, err);
}

int module_version_upload(struct store *store, const char *id, struct bytes archive, struct err *err)
{
	struct upload u = {store, id, archive};

	return db_transaction(store->db, upload_in, &u, err);
}

int module_version_give(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, module_version_give, .id = id);
}

int module_version_refuse(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err, module_version_refuse, .id = id, .why = why);
}

int module_version_mark(
	struct store *store, const char *id, const json_t *deprecation, const json_t *revocation, struct err *err)
{
	_cleanup_(freep) char *deprecation_text = deprecation ? json_text(deprecation) : NULL;
	_cleanup_(freep) char *revocation_text = revocation ? json_text(revocation) : NULL;

	return db_query(store->db, NULL, err, module_version_mark, .id = id, .deprecation = deprecation_text,
		.revocation = revocation_text);
}

/* ---- deletion ---- */

struct deletion {
	struct store *store;
	const struct module_version_row *version;
};

static int delete_in(void *data, struct err *err)
{
	const struct deletion *d = data;
	const char *module_id = d->version->module_id;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(d->store->db, NULL, err, module_lock, .id = module_id) < 0 ||
		db_query(d->store->db, &rows, err, module_version_delete, .id = d->version->id,
			.module_id = module_id) < 0)
		return -1;
	return row_of(module_version_delete, &rows, 0)->others ? vcs_wake(d->store, err)
							       : registry_module_delete(d->store, module_id, err);
}

int module_version_delete(struct store *store, const struct module_version_row *version, struct err *err)
{
	struct deletion d = {store, version};

	return db_transaction(store->db, delete_in, &d, err);
}
