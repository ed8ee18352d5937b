/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/metadata.h"

#include <string.h>

#include "common/err.h"
#include "scheduler/saml/xml/names.h"
#include "scheduler/saml/xml/tree.h"

/* ---- writing ---- */

static void xml_text(struct buf *document, const char *text)
{
	for (; *text; text++) {
		const char *shown = NULL;

		if (*text == '<')
			shown = "&lt;";
		else if (*text == '&')
			shown = "&amp;";
		else if (*text == '"')
			shown = "&quot;";
		buf_append(document, shown ? shown : text, shown ? strlen(shown) : 1);
	}
}

static void begin_write(struct buf *document, const char *entity_id, const char *role)
{
	buf_text(document, "<md:EntityDescriptor xmlns:md=\"" NS_METADATA "\" xmlns:ds=\"" NS_DSIG "\" entityID=\"");
	xml_text(document, entity_id);
	buf_printf(document, "\"><md:%s", role);
}

static void key_write(struct buf *document, const char *use, const char *base64)
{
	buf_printf(document,
		"<md:KeyDescriptor use=\"%s\"><ds:KeyInfo><ds:X509Data><ds:X509Certificate>%s</ds:X509Certificate>"
		"</ds:X509Data></ds:KeyInfo></md:KeyDescriptor>",
		use, base64);
}

static void endpoint_write(struct buf *document, const char *service, const char *binding, const char *url)
{
	buf_printf(document, "<md:%s Binding=\"%s\" Location=\"", service, binding);
	xml_text(document, url);
	buf_text(document, "\"/>");
}

int metadata_write_own(const struct party_own *own, struct buf *document)
{
	struct err ignored = ERR_INIT;
	_cleanup_(freep) char *base64 =
		text_or_null(own->certificate) ? certificate_base64(own->certificate, &ignored) : NULL;

	begin_write(document, own->entity_id, "SPSSODescriptor");
	buf_printf(document,
		" AuthnRequestsSigned=\"%s\" WantAssertionsSigned=\"true\" protocolSupportEnumeration=\"" NS_PROTOCOL
		"\">",
		own->signs ? "true" : "false");
	if (base64) {
		key_write(document, "signing", base64);
		key_write(document, "encryption", base64);
	}
	endpoint_write(document, "SingleLogoutService", BINDING_REDIRECT, own->slo_url);
	endpoint_write(document, "SingleLogoutService", BINDING_POST, own->slo_url);
	endpoint_write(document, "AssertionConsumerService index=\"0\" isDefault=\"true\"", BINDING_POST, own->acs_url);
	return buf_text(document, "</md:SPSSODescriptor></md:EntityDescriptor>");
}

int metadata_write_provider(
	const struct party_provider *provider, const char *entity_id, struct buf *document, struct err *err)
{
	begin_write(document, entity_id, "IDPSSODescriptor");
	buf_text(document, " protocolSupportEnumeration=\"" NS_PROTOCOL "\">");
	for (size_t i = 0; i < provider->count; i++) {
		_cleanup_(freep) char *base64 = certificate_base64(provider->certificates[i], err);

		/* The old certificate does not keep the new one from being used, and vice versa. */
		if (base64)
			key_write(document, "signing", base64);
		else if (provider->count == 1)
			return err_set(err, ERR_CONFLICT, "The identity provider's certificate is not usable");
		*err = (struct err)ERR_INIT;
	}
	if (*provider->slo_url)
		endpoint_write(document, "SingleLogoutService", BINDING_REDIRECT, provider->slo_url);
	endpoint_write(document, "SingleSignOnService", BINDING_REDIRECT, provider->sso_url);
	return buf_text(document, "</md:IDPSSODescriptor></md:EntityDescriptor>");
}

int metadata_make(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(buf_release) struct buf document = METADATA_INIT;
	struct parties parties;

	if (parties_read(request, &parties, err) < 0)
		return -1;
	if (metadata_write_own(&parties.own, &document) < 0)
		return err_set(err, ERR_INTERNAL, "the metadata is too large");
	return json_object_set_new(answer, "document", json_string(buf_str(&document)));
}

/* ---- reading ---- */

/* The entity with a descriptor of an identity provider: the root, or the only one in a list. */
static const xmlNode *provider_find(const xmlNode *root, int *ret_count)
{
	const xmlNode *found = NULL;

	if (tree_is(root, NS_METADATA, "EntityDescriptor")) {
		*ret_count = tree_child(root, NS_METADATA, "IDPSSODescriptor") ? 1 : 0;
		return root;
	}
	*ret_count = 0;
	for (const xmlNode *at = tree_child(root, NS_METADATA, "EntityDescriptor"); at;
		at = tree_next(at->next, NS_METADATA, "EntityDescriptor"))
		if (tree_child(at, NS_METADATA, "IDPSSODescriptor")) {
			found = at;
			(*ret_count)++;
		}
	return found;
}

/* The address of the service by redirect; null if there is none. */
static json_t *endpoint_read(const xmlNode *role, const char *service)
{
	for (const xmlNode *at = tree_child(role, NS_METADATA, service); at;
		at = tree_next(at->next, NS_METADATA, service)) {
		_cleanup_(freep) char *url = tree_attribute(at, "Location");

		if (tree_attribute_is(at, "Binding", BINDING_REDIRECT))
			return json_string_or_null(url);
	}
	return json_null();
}

static void certificates_read(const xmlNode *key, json_t *certificates)
{
	const xmlNode *data = tree_child(tree_child(key, NS_DSIG, "KeyInfo"), NS_DSIG, "X509Data");

	for (const xmlNode *at = tree_child(data, NS_DSIG, "X509Certificate"); at;
		at = tree_next(at->next, NS_DSIG, "X509Certificate")) {
		_cleanup_(freep) char *text = tree_text(at);
		struct err ignored = ERR_INIT;
		_cleanup_(freep) char *base64 = certificate_base64(text, &ignored);

		if (base64 && json_array_size(certificates) < MAX_CERTIFICATES)
			json_array_append_new(certificates, json_string(base64));
	}
}

static json_t *signing_certificates(const xmlNode *role)
{
	json_t *certificates = json_array();

	for (const xmlNode *at = tree_child(role, NS_METADATA, "KeyDescriptor"); at;
		at = tree_next(at->next, NS_METADATA, "KeyDescriptor"))
		if (!tree_attribute_is(at, "use", "encryption"))
			certificates_read(at, certificates);
	return certificates;
}

int metadata_read(const json_t *request, json_t *answer, struct err *err)
{
	_cleanup_(doc_freep) xmlDoc *doc = NULL;
	_cleanup_(freep) char *entity_id = NULL;
	const xmlNode *entity, *role;
	int count = 0;

	if (tree_parse(text_bytes(text_or_empty(json_string_at(request, "document"))), SCAN_METADATA, &doc, err) < 0)
		return -1;
	entity = provider_find(xmlDocGetRootElement(doc), &count);
	if (count != 1)
		return err_set(err, ERR_INVALID,
			count ? "the metadata names several identity providers: take that of one"
			      : "the document is no metadata of a SAML 2.0 identity provider");
	role = tree_child(entity, NS_METADATA, "IDPSSODescriptor");
	entity_id = tree_attribute(entity, "entityID");
	if (!text_or_null(entity_id))
		return err_set(err, ERR_INVALID, "the metadata has no entity id");
	json_object_set_new(answer, "entity_id", json_string(entity_id));
	json_object_set_new(answer, "sso_url", endpoint_read(role, "SingleSignOnService"));
	json_object_set_new(answer, "slo_url", endpoint_read(role, "SingleLogoutService"));
	return json_object_set_new(answer, "certificates", signing_certificates(role));
}
