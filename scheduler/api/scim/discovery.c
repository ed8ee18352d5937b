/* SPDX-License-Identifier: MPL-2.0 */
#include <strings.h>

#include "scheduler/api/scim/scim.h"

/* Discovery: the configuration, the schemas and the types of resources. */

static const struct scim_schema *const schemas[] = {&scim_user_schema, &scim_enterprise_schema, &scim_group_schema};

/* ---- the configuration ---- */

int scim_configuration(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(freep) char *address =
		mem_printf("%s" SCIM_PREFIX "/ServiceProviderConfig", req->store->settings->public_url);
	json_t *shown = json_pack("{s[s] s{sb} s{sb si si} s{sb si} s{sb} s{sb} s{sb}}", "schemas",
		"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig", "patch", "supported", 1, "bulk",
		"supported", 0, "maxOperations", 0, "maxPayloadSize", 0, "filter", "supported", 1, "maxResults", 200,
		"changePassword", "supported", 0, "sort", "supported", 0, "etag", "supported", 0);

	(void)err;
	json_object_set_new(shown, "authenticationSchemes",
		json_pack("[{ss ss ss sb}]", "type", "oauthbearertoken", "name", "SCIM token", "description",
			"A token that a site administrator creates for the identity provider", "primary", 1));
	json_object_set_new(
		shown, "meta", json_pack("{ss ss}", "resourceType", "ServiceProviderConfig", "location", address));
	return scim_respond(res, 200, shown);
}

/* ---- schemas ---- */

static json_t *schema_shown(const struct request *req, const struct scim_schema *schema)
{
	_cleanup_(freep) char *address = scim_address(req, "Schemas", schema->urn);
	json_t *shown = scim_schema_shown(schema);

	json_object_set_new(shown, "meta", json_pack("{ss ss}", "resourceType", "Schema", "location", address));
	return shown;
}

static int all_shown(struct response *res, json_t *resources)
{
	return scim_respond_list(
		res, &(struct scim_page){.start = 1}, (long long)json_array_size(resources), resources);
}

int scim_schemas(struct request *req, struct response *res, struct err *err)
{
	json_t *resources = json_array();

	(void)err;
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
		json_array_append_new(resources, schema_shown(req, schemas[i]));
	return all_shown(res, resources);
}

int scim_schema_read(struct request *req, struct response *res, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
		if (strcasecmp(schemas[i]->urn, param(req, "schema")) == 0)
			return scim_respond(res, 200, schema_shown(req, schemas[i]));
	return err_set(err, ERR_NOT_FOUND, "there is no such schema");
}

/* ---- types of resources ---- */

static const struct resource_type {
	const char *name, *endpoint, *schema, *extension, *description;
} types[] = {
	{"User", "/Users", SCIM_USER, SCIM_ENTERPRISE, "Accounts of people"},
	{"Group", "/Groups", SCIM_GROUP, NULL, "Groups of people, which teams can follow"},
};

static json_t *type_shown(const struct request *req, const struct resource_type *type)
{
	_cleanup_(freep) char *address = scim_address(req, "ResourceTypes", type->name);
	json_t *shown = json_pack("{s[s] ss ss ss ss ss s{ss ss}}", "schemas",
		"urn:ietf:params:scim:schemas:core:2.0:ResourceType", "id", type->name, "name", type->name, "endpoint",
		type->endpoint, "description", type->description, "schema", type->schema, "meta", "resourceType",
		"ResourceType", "location", address);

	if (type->extension)
		json_object_set_new(
			shown, "schemaExtensions", json_pack("[{ss sb}]", "schema", type->extension, "required", 0));
	return shown;
}

int scim_types(struct request *req, struct response *res, struct err *err)
{
	json_t *resources = json_array();

	(void)err;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		json_array_append_new(resources, type_shown(req, &types[i]));
	return all_shown(res, resources);
}

int scim_type_read(struct request *req, struct response *res, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (text_equal(types[i].name, param(req, "type")))
			return scim_respond(res, 200, type_shown(req, &types[i]));
	return err_set(err, ERR_NOT_FOUND, "there is no such type of resources");
}

/* Searches over several types of resources are not offered. */
int scim_search(struct request *req, struct response *res, struct err *err)
{
	(void)req;
	(void)err;
	return scim_respond(res, 501,
		json_pack("{s[s] ss ss}", "schemas", "urn:ietf:params:scim:api:messages:2.0:Error", "status", "501",
			"detail", "send GET to /Users or /Groups with a filter"));
}
