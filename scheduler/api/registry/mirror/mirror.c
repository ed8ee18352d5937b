/* SPDX-License-Identifier: MPL-2.0 */
/* The provider network mirror protocol: engines install providers of any registry from the operator's folder. */
#include <string.h>

#include "scheduler/api/registry/mirror/downloads.h"
#include "scheduler/api/registry/mirror/folder.h"
#include "scheduler/api/resources.h"

static const char document_end[] = ".json";

static int download_respond(const struct request *req, struct response *res, const struct provider_address *address,
	const struct package_name *name, struct err *err)
{
	struct http_source source;

	if (mirror_send(address, name, &source, err) < 0 || download_count(req->http->address, &source, err) < 0)
		return -1;
	res->http->source = source;
	res->http->status = 200;
	res->http->content_type = "application/zip";
	return 0;
}

static int archives_respond(
	struct response *res, const struct provider_address *address, const char *version, struct err *err)
{
	json_t *archives = NULL;

	if (mirror_archives(address, version, &archives, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{so}", "archives", archives));
}

static int versions_respond(struct response *res, const struct provider_address *address, struct err *err)
{
	json_t *versions = NULL;

	if (mirror_versions(address, &versions, err) < 0)
		return -1;
	return respond_json(res, 200, json_pack("{so}", "versions", versions));
}

/* The last part of the path is index.json, VERSION.json or an archive's name. */
int registry_mirror(struct request *req, struct response *res, struct err *err)
{
	const struct provider_address address = {.host = param(req, "mirror_host"),
		.namespace = param(req, "mirror_namespace"),
		.type = param(req, "mirror_type")};
	_cleanup_(freep) char *file = mem_text(param(req, "mirror_file"));
	size_t len = strlen(file), end = strlen(document_end);
	struct package_name name;

	if (provider_address_valid(&address) && package_name_parse(address.type, file, &name) == 0)
		return download_respond(req, res, &address, &name, err);
	if (text_equal(file, "index.json"))
		return versions_respond(res, &address, err);
	if (len <= end || !text_equal(file + len - end, document_end))
		return err_set(err, ERR_NOT_FOUND, "provider not found");
	file[len - end] = '\0';
	return archives_respond(res, &address, file, err);
}
