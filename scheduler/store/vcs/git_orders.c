/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/address.h"
#include "common/vcs/ref.h"
#include "scheduler/store/vcs/credentials.h"
#include "scheduler/store/vcs/git_jobs.h"
#include "scheduler/store/vcs/git_orders.sql.h"

enum { MAX_REFS = 20 };

/* Some servers of these providers give repositories to a key alone. */
static bool wants_ssh(const struct vcs_credential *credential)
{
	return credential->ssh_key && (credential->provider == VCS_PROVIDER_ADO_SERVER || !credential->token);
}

static char *url_of(const struct vcs_credential *credential)
{
	const struct vcs_place place = {credential->dialect, credential->http_url, credential->identifier};
	char *url = wants_ssh(credential) ? vcs_clone_ssh_url(&place) : NULL;

	return url ? url : vcs_clone_url(&place);
}

static json_t *login(const struct vcs_credential *credential)
{
	return json_pack("{so so so ss}", "user",
		json_string_or_null(vcs_login_user(credential->dialect, credential->user)), "password",
		json_string_or_null(credential->token), "ssh-key", json_string_or_null(credential->ssh_key),
		"host-keys", text_or_empty(credential->host_keys));
}

/* The names that may be arguments of git. A new reference. */
static json_t *refs_of(const struct git_order_row *row)
{
	json_auto_t *refs = json_shown(row->refs);
	json_t *valid = json_array(), *ref;
	size_t i;

	json_array_foreach(refs, i, ref)
	{
		if (vcs_ref_valid(json_string_value(ref)))
			json_array_append(valid, ref);
	}
	return valid;
}

static void order_fetch(const struct git_order_row *row, json_t *order)
{
	json_object_update_new(
		order, json_pack("{ss sb so}", "sha", row->sha, "submodules", row->submodules, "refs", refs_of(row)));
	if (*text_or_empty(row->directory))
		json_object_set_new(order, "directory", json_string(row->directory));
}

/* Of a pull request, the changes since the commit where it left its destination; of a new branch, since it left the
 * default branch. */
static void order_diff(const struct git_order_row *row, enum vcs_dialect dialect, json_t *order)
{
	bool pull = row->pull_request > 0;
	const char *base = pull ? row->base : row->default_branch;
	const char *before = pull ? "" : row->before_sha;
	char ref[VCS_PR_REF_SIZE];
	json_t *refs = refs_of(row);

	if (pull && vcs_pr_ref(dialect, row->pull_request, ref))
		json_array_append_new(refs, json_string(ref));
	json_object_update_new(order,
		json_pack("{ss ss so so}", "before", text_or_empty(before), "sha", row->after_sha, "base",
			json_string_or_null(vcs_ref_name_valid(base) ? base : NULL), "refs", refs));
}

int git_job_order(struct store *store, const char *job_id, json_t **ret_order, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(vcs_credential_release) struct vcs_credential credential = VCS_CREDENTIAL_INIT;
	_cleanup_(freep) char *url = NULL;
	const struct git_order_row *row;
	enum git_kind kind;

	if (db_query(store->db, &rows, err, git_order, .job_id = job_id, .max_refs = MAX_REFS) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the job is gone");
	row = row_of(git_order, &rows, 0);
	if (vcs_credential_read(store, row->repository_id, &credential, err) < 0)
		return -1;
	url = url_of(&credential);
	if (!url)
		return err_set(err, ERR_NOT_FOUND, "the repository has no address for git");
	kind = git_kind_parse(row->kind);
	*ret_order = json_pack("{ss ss ss ss so}", "kind", row->kind, "repository", row->repository_id, "identifier",
		row->identifier, "url", url, "login", login(&credential));
	if (kind == GIT_FETCH)
		order_fetch(row, *ret_order);
	if (kind == GIT_DIFF)
		order_diff(row, credential.dialect, *ret_order);
	return 0;
}
