/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/vcs/address.h"
#include "common/vcs/ref.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/vcs/lookup.h"
#include "scheduler/api/vcs/vcs_repo.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/registry/module_repositories.h"
#include "scheduler/store/registry/module_versions.h"
#include "scheduler/store/registry/modules.h"
#include "scheduler/store/registry/modules.sql.h"
#include "scheduler/store/vcs/tokens.h"
#include "scheduler/store/vcs/tokens.sql.h"

/* Modules whose versions are the tags of a repository, or commits of its branch. Their names are those of the request,
 * or of the repository: terraform-PROVIDER-NAME. */

#define REPO       "/data/attributes/vcs-repo"
#define IDENTIFIER REPO "/identifier"
#define BRANCH     REPO "/branch"
#define VERSION    "/data/attributes/initial-version"

enum { MAX_TAG_PREFIX = 128 };

/* The module's address from the request, or from the name of its repository. Plain git has names that end with .git.
 * *ret_given: the request has a part of it. */
static int address_read(const struct request *req, const char *identifier, char name[], size_t size,
	struct module_address *address, bool *ret_given, struct err *err)
{
	static const char prefix[] = "terraform-", suffix[] = ".git";
	const char *last = strrchr(identifier, '/');
	char *provider, *rest;
	size_t len;

	*address = (struct module_address){.registry_name = REGISTRY_PRIVATE, .namespace = ""};
	if (body_text(req, "name", &address->name, err) < 0 || body_text(req, "provider", &address->provider, err) < 0)
		return -1;
	address->name = text_or_null(text_or_empty(address->name));
	address->provider = text_or_null(text_or_empty(address->provider));
	*ret_given = address->name || address->provider;
	if (address->name && address->provider)
		return 0;
	text_copy(name, size, last ? last + 1 : identifier);
	len = strlen(name);
	if (len > strlen(suffix) && text_equal(name + len - strlen(suffix), suffix))
		name[len - strlen(suffix)] = '\0';
	provider = name + strlen(prefix);
	rest = text_starts(name, prefix) ? strchr(provider, '-') : NULL;
	if (!rest)
		return err_at(err, IDENTIFIER,
			"Identifier must name a repository terraform-PROVIDER-NAME if name and provider are not given");
	*rest = '\0';
	address->name = address->name ? address->name : rest + 1;
	address->provider = address->provider ? address->provider : provider;
	return 0;
}

static int use_read(struct request *req, const char *organization_id, const struct vcs_repo_input *input,
	struct vcs_use *use, struct err *err)
{
	const struct vcs_source_ids ids = {.organization_id = organization_id,
		.token_id = text_or_null(input->token_id),
		.installation_id = text_or_null(input->installation_id)};

	if (!ids.token_id && !ids.installation_id)
		return err_at(err, REPO "/oauth-token-id",
			"Oauth token, or a GitHub App installation, must be given for the repository");
	*use = (struct vcs_use){.organization_id = organization_id,
		.identifier = text_or_empty(input->identifier),
		.branch = text_or_empty(input->branch),
		.tags_regex = "",
		.source_directory = text_or_empty(input->source_directory),
		.tag_prefix = text_or_empty(input->tag_prefix)};
	if (vcs_source_find(req->store, &ids, &use->source, err) < 0)
		return -1;
	if (vcs_identifier_check(use->source.dialect, use->identifier, err) < 0) {
		text_copy(err->pointer, sizeof(err->pointer), IDENTIFIER);
		return -1;
	}
	return 0;
}

/* The first version of a module with a branch. */
static int version_read(const struct request *req, const char **ret_version, struct err *err)
{
	*ret_version = NULL;
	if (body_text(req, "initial-version", ret_version, err) < 0)
		return -1;
	if (!*text_or_empty(*ret_version))
		*ret_version = "0.0.0";
	if (module_version_check(*ret_version, err) == 0)
		return 0;
	text_copy(err->pointer, sizeof(err->pointer), VERSION);
	return -1;
}

static int connect_respond(struct request *req, struct response *res, const char *organization_id,
	const struct vcs_repo_input *input, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct module_address address;
	const char *version;
	struct vcs_use use;
	char name[256];
	struct id id;
	bool given;

	if (use_read(req, organization_id, input, &use, err) < 0 ||
		address_read(req, use.identifier, name, sizeof(name), &address, &given, err) < 0)
		return -1;
	address.organization_id = organization_id;
	if (version_read(req, &version, err) < 0)
		return -1;
	if (registry_module_create_connected(req->store, &address, &use, version, &id, err) < 0) {
		if (err->kind == ERR_INVALID && !given && !text_equal(err->pointer, VERSION))
			text_copy(err->pointer, sizeof(err->pointer), IDENTIFIER);
		return -1;
	}
	if (registry_test_config_take(req, id.text, err) < 0 ||
		registry_module_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return registry_module_show(req, res, 201, &rows, err);
}

/* Whether the tags or a branch make the versions. `*ret_branch` is borrowed; "": the tags. NULL: nothing was sent. */
static int mechanism_read(
	const struct request *req, const struct vcs_repo_input *input, const char **ret_branch, struct err *err)
{
	const json_t *tags = json_at(req->body, "data.attributes.vcs-repo.tags");
	const char *branch = text_or_null(text_or_empty(input->branch));

	if (tags && !json_is_boolean(tags) && !json_is_null(tags))
		return err_at(err, REPO "/tags", "Tags must be true or false");
	if (json_is_true(tags) && branch)
		return err_at(err, BRANCH, "Branch must be empty if the tags are the versions");
	if (json_is_false(tags) && !branch)
		return err_at(err, BRANCH, "Branch must be given if the tags are not the versions");
	*ret_branch = json_is_true(tags) || input->branch ? text_or_empty(branch) : NULL;
	return 0;
}

/* The folder of the module, and the prefix of its tags. */
static int part_check(const struct vcs_repo_input *input, struct err *err)
{
	const char *directory = text_or_empty(input->source_directory), *prefix = text_or_empty(input->tag_prefix);
	_cleanup_(freep) char *tag = mem_printf("%s0.0.0", prefix);

	if (*directory && !vcs_folder_valid(directory))
		return err_at(err, REPO "/source-directory",
			"Source directory must be the relative path of a folder, such as modules/network");
	if (strlen(prefix) > MAX_TAG_PREFIX)
		return err_at(
			err, REPO "/tag-prefix", "Tag prefix is too long (maximum is %d characters)", MAX_TAG_PREFIX);
	if (!vcs_ref_name_valid(tag))
		return err_at(err, REPO "/tag-prefix", "Tag prefix can't be the beginning of a tag");
	return 0;
}

static int input_read(const struct request *req, struct vcs_repo_input *input, struct err *err)
{
	const char *branch;

	if (body_check(req, "registry-modules", err) < 0 || vcs_repo_input_read(req, input, err) < 0)
		return -1;
	if (!input->sent || input->disconnect)
		return err_at(err, REPO, "VCS repo must be given");
	return mechanism_read(req, input, &branch, err) < 0 ? -1 : part_check(input, err);
}

/* ---- changes ---- */

int registry_repository_take(const struct request *req, const struct registry_module_row *module, struct err *err)
{
	json_auto_t *used = json_shown(module->repository);
	struct vcs_repo_input input;
	const char *branch;
	struct vcs_use use;

	if (vcs_repo_input_read(req, &input, err) < 0 || mechanism_read(req, &input, &branch, err) < 0 ||
		part_check(&input, err) < 0)
		return -1;
	if (!input.sent || (!branch && !input.source_directory && !input.tag_prefix))
		return 0;
	if (!module->repository)
		return err_at(err, REPO, "The module has no repository");
	use = (struct vcs_use){.branch = vcs_repo_text(branch, used, "branch"),
		.source_directory = vcs_repo_text(input.source_directory, used, "source-directory"),
		.tag_prefix = vcs_repo_text(input.tag_prefix, used, "tag-prefix")};
	return registry_module_set_source(req->store, module->id, &use, err);
}

/* ---- commits ---- */

int registry_modules_commits(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(vcs_credential_release) struct vcs_credential credential = VCS_CREDENTIAL_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *used = NULL;

	if (registry_module_in_path(req, &rows, err) < 0)
		return -1;
	used = json_shown(row_of(registry_module, &rows, 0)->repository);
	/* Organizations that share the module's use do not see its repository. */
	if (!json_is_object(used) ||
		!registry_may_manage(req->store, row_of(registry_module, &rows, 0)->organization_id))
		return err_set(err, ERR_NOT_FOUND, "repository of the registry module not found");
	if (vcs_credential_read(req->store, json_string_at(used, "repository"), &credential, err) < 0)
		return -1;
	return respond_provider_commits(req, res, &credential, text_or_empty(json_string_at(used, "branch")), err);
}

/* ---- new modules ---- */

int registry_modules_connect(struct request *req, struct response *res, struct err *err)
{
	struct vcs_repo_input input;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || input_read(req, &input, err) < 0)
		return -1;
	return connect_respond(req, res, scope.organization.text, &input, err);
}

/* The older path names no organization: the token's connection has one. */
int registry_modules_connect_token(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct vcs_repo_input input;
	const char *organization_id;

	if (input_read(req, &input, err) < 0 ||
		vcs_token_read(req->store, text_or_empty(input.token_id), &rows, err) < 0)
		return -1;
	organization_id = row_of(vcs_token, &rows, 0)->organization_id;
	if (may(req, (struct place){.organization = organization_id}, "OAuth token", err) < 0)
		return -1;
	return connect_respond(req, res, organization_id, &input, err);
}
