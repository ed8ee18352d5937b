/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "scheduler/api/scim/scim.h"
#include "scheduler/http/audit_note.h"

enum { MAX_NAME = 255 };

int scim_respond(struct response *res, int status, json_t *value)
{
	respond_json(res, status, value);
	res->http->content_type = "application/scim+json";
	return 0;
}

/* The type of an error of status 400 or 409. */
static const char *type_of(const struct err *err)
{
	switch (err->kind) {
	case ERR_MALFORMED:
		return err->title[0] ? err->title : "invalidSyntax";
	case ERR_INVALID:
		return "invalidValue";
	case ERR_CONFLICT:
		return err->title[0] ? err->title : "uniqueness";
	default:
		return NULL;
	}
}

void scim_respond_error(struct response *res, const struct err *err)
{
	int status = err_http_status(err->kind == ERR_INVALID ? ERR_MALFORMED : err->kind);
	const char *detail = err->message, *type = type_of(err);
	char number[16];
	json_t *shown;

	if (err->kind == ERR_NONE || err->kind == ERR_INTERNAL) {
		status = 500;
		detail = "The server failed. Its log says why.";
	} else if (err->kind == ERR_UNAVAILABLE) {
		detail = "service unavailable: try again";
		text_copy(res->http->retry_after, sizeof(res->http->retry_after), "2");
	}
	snprintf(number, sizeof(number), "%d", status);
	shown = json_pack("{s[s] ss}", "schemas", "urn:ietf:params:scim:api:messages:2.0:Error", "status", number);
	json_object_set_new(shown, "detail", json_string(detail)); /* none if it has bytes that are not UTF-8 */
	if (type)
		json_object_set_new(shown, "scimType", json_string(type));
	scim_respond(res, status, shown);
}

int scim_open(const struct request *req, struct err *err)
{
	if (!req->actor.scim_enabled)
		return err_set(err, ERR_FORBIDDEN, "SCIM is disabled: a site administrator can enable it");
	if (req->actor.scim_paused)
		return err_set(err, ERR_FORBIDDEN, "SCIM is paused: a site administrator can resume it");
	return 0;
}

char *scim_address(const struct request *req, const char *collection, const char *id)
{
	return mem_printf("%s" SCIM_PREFIX "/%s/%s", req->store->settings->public_url, collection, id);
}

json_t *scim_meta(const struct request *req, const char *type, const char *id, const char *created, const char *changed)
{
	_cleanup_(freep) char *collection = mem_printf("%ss", type), *address = scim_address(req, collection, id);

	return json_pack("{ss ss ss ss}", "resourceType", type, "created", created, "lastModified", changed, "location",
		address);
}

struct scim_selection scim_selection_of(const struct request *req)
{
	return (struct scim_selection){
		text_or_null(query(req, "attributes")), text_or_null(query(req, "excludedAttributes"))};
}

void scim_note(struct request *req, const char *type, const char *id)
{
	text_copy(req->audit->type, sizeof(req->audit->type), type);
	text_copy(req->audit->resource, sizeof(req->audit->resource), id);
}

int scim_text(const json_t *body, const char *name, const char **ret_text, struct err *err)
{
	const json_t *value = scim_member(body, name);
	const char *text = json_string_value(value);

	if (value && !text && !json_is_null(value))
		return scim_wrong(err, "invalidValue", "%s must be a text", name);
	if (text && (strlen(text) > MAX_NAME || strlen(text) != json_string_length(value)))
		return scim_wrong(
			err, "invalidValue", "%s must have at most %d bytes, and no zero byte", name, MAX_NAME);
	*ret_text = text_or_null(text);
	return 0;
}
