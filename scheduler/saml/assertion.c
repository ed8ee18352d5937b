/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/saml/assertion.h"

#include <string.h>

#include "common/err.h"
#include "scheduler/saml/wire.h"
#include "scheduler/saml/xml/instant.h"
#include "scheduler/saml/xml/names.h"
#include "scheduler/saml/xml/tree.h"

enum { MAX_SUBJECT = 1024, MAX_ATTRIBUTES = 256 };

/* ---- times ---- */

/* Reads the time of an attribute. Returns 1, 0 if there is none, or -1. */
static int time_read(const xmlNode *node, const char *name, long long *ret_seconds, struct err *err)
{
	_cleanup_(freep) char *text = tree_attribute(node, name);

	if (!text)
		return 0;
	return instant_parse(text, ret_seconds) < 0 ? err_set(err, ERR_INVALID, "%s is no time (%.40s)", name, text)
						    : 1;
}

/* Whether now is between NotBefore and NotOnOrAfter, with the skew of clocks. *ret_end is the latter, if it is earlier.
 */
static int times_check(const xmlNode *node, long long now, long long *ret_end, struct err *err)
{
	long long from = 0, end = 0;
	int has_from = time_read(node, "NotBefore", &from, err);
	int has_end = has_from < 0 ? -1 : time_read(node, "NotOnOrAfter", &end, err);

	if (has_end < 0)
		return -1;
	if (has_from && now + SAML_SKEW < from)
		return err_set(err, ERR_INVALID,
			"the assertion is not yet valid: compare the clocks of this server and the identity provider");
	if (has_end && now - SAML_SKEW >= end)
		return err_set(err, ERR_INVALID, "the assertion has expired: sign in again");
	if (has_end && (!*ret_end || end < *ret_end))
		*ret_end = end;
	return 0;
}

/* ---- conditions ---- */

static bool audience_named(const xmlNode *restriction, const char *audience)
{
	for (const xmlNode *at = tree_child(restriction, NS_ASSERTION, "Audience"); at;
		at = tree_next(at->next, NS_ASSERTION, "Audience")) {
		_cleanup_(freep) char *text = tree_text(at);

		if (text_equal(text, audience))
			return true;
	}
	return false;
}

/* Every restriction must name this server, and there must be one. */
static int audience_check(const xmlNode *conditions, const struct assertion_rules *rules, struct err *err)
{
	int count = 0;

	for (const xmlNode *at = conditions ? conditions->children : NULL; at; at = at->next) {
		if (at->type != XML_ELEMENT_NODE || tree_is(at, NS_ASSERTION, "OneTimeUse") ||
			tree_is(at, NS_ASSERTION, "ProxyRestriction"))
			continue;
		if (!tree_is(at, NS_ASSERTION, "AudienceRestriction"))
			return err_set(err, ERR_INVALID, "the assertion has a condition that is not known");
		if (!audience_named(at, rules->audience))
			return err_set(err, ERR_INVALID,
				"the assertion is for another service (Audience): it must be %.300s", rules->audience);
		count++;
	}
	return count ? 0
		     : err_set(err, ERR_INVALID, "the assertion names no service (Audience): it must be %.300s",
			       rules->audience);
}

/* ---- the subject ---- */

static int confirmation_check(
	const xmlNode *data, const struct assertion_rules *rules, long long *ret_end, struct err *err)
{
	_cleanup_(freep) char *answered = tree_attribute(data, "InResponseTo");
	long long end = 0;

	if (!tree_attribute_is(data, "Recipient", rules->acs_url))
		return err_set(err, ERR_INVALID, "the assertion is for another address (Recipient): it must be %.300s",
			rules->acs_url);
	/* Without a request the provider began the sign-in: an assertion that answers one was taken from somewhere. */
	if (rules->request_id ? !text_equal(answered, rules->request_id) : answered != NULL)
		return err_set(err, ERR_INVALID, "the assertion is not the answer to this sign-in (InResponseTo)");
	if (times_check(data, rules->now, &end, err) < 0)
		return -1;
	if (!end)
		return err_set(err, ERR_INVALID, "the assertion does not say until when it is valid (NotOnOrAfter)");
	*ret_end = end;
	return 0;
}

/* One of the confirmations must be acceptable. The error is that of the last one. */
static int bearer_check(
	const xmlNode *subject, const struct assertion_rules *rules, long long *ret_end, struct err *err)
{
	err_set(err, ERR_INVALID, "the assertion has no confirmation by its bearer");
	for (const xmlNode *at = tree_child(subject, NS_ASSERTION, "SubjectConfirmation"); at;
		at = tree_next(at->next, NS_ASSERTION, "SubjectConfirmation")) {
		const xmlNode *data = tree_child(at, NS_ASSERTION, "SubjectConfirmationData");

		if (data && tree_attribute_is(at, "Method", METHOD_BEARER) &&
			confirmation_check(data, rules, ret_end, err) == 0) {
			*err = (struct err)ERR_INIT;
			return 0;
		}
	}
	return -1;
}

static int subject_read(const xmlNode *subject, json_t *answer, struct err *err)
{
	const xmlNode *name = tree_child(subject, NS_ASSERTION, "NameID");
	_cleanup_(freep) char *text = tree_text(name);
	_cleanup_(freep) char *format = name ? tree_attribute(name, "Format") : NULL;

	if (tree_count(subject, NS_ASSERTION, "NameID") != 1 || !text_or_null(text) || strlen(text) > MAX_SUBJECT)
		return err_set(err, ERR_INVALID, "the assertion does not name the person (NameID)");
	if (text_equal(format, FORMAT_TRANSIENT))
		return err_set(err, ERR_INVALID,
			"the assertion's NameID is transient, so it names nobody: set the identity provider to a "
			"persistent one or an address");
	json_object_set_new(answer, "subject", json_string(text));
	return json_object_set_new(answer, "format", json_string_or_null(format));
}

/* ---- statements ---- */

static json_t *values_of(const xmlNode *attribute)
{
	json_t *values = json_array();

	for (const xmlNode *at = tree_child(attribute, NS_ASSERTION, "AttributeValue"); at;
		at = tree_next(at->next, NS_ASSERTION, "AttributeValue")) {
		_cleanup_(freep) char *text = tree_text(at);

		json_array_append_new(values, json_string(text_or_empty(text)));
	}
	return values;
}

/* The values of attributes with one name are one list. */
static int attributes_read(const xmlNode *assertion, json_t *attributes, struct err *err)
{
	for (const xmlNode *statement = tree_child(assertion, NS_ASSERTION, "AttributeStatement"); statement;
		statement = tree_next(statement->next, NS_ASSERTION, "AttributeStatement"))
		for (const xmlNode *at = tree_child(statement, NS_ASSERTION, "Attribute"); at;
			at = tree_next(at->next, NS_ASSERTION, "Attribute")) {
			_cleanup_(freep) char *name = tree_attribute(at, "Name");
			json_auto_t *values = values_of(at);
			json_t *known = json_object_get(attributes, text_or_empty(name));

			if (json_object_size(attributes) == MAX_ATTRIBUTES)
				return err_set(
					err, ERR_INVALID, "the assertion has more than %d attributes", MAX_ATTRIBUTES);
			if (known)
				json_array_extend(known, values);
			else if (text_or_null(name))
				json_object_set(attributes, name, values);
		}
	return 0;
}

static int session_read(const xmlNode *assertion, long long now, json_t *answer, struct err *err)
{
	const xmlNode *statement = tree_child(assertion, NS_ASSERTION, "AuthnStatement");
	_cleanup_(freep) char *index = statement ? tree_attribute(statement, "SessionIndex") : NULL;
	long long end = 0;
	int has_end;

	if (!statement)
		return err_set(
			err, ERR_INVALID, "the assertion does not say that the person has signed in (AuthnStatement)");
	has_end = time_read(statement, "SessionNotOnOrAfter", &end, err);
	if (has_end < 0)
		return -1;
	if (has_end && now - SAML_SKEW >= end)
		return err_set(err, ERR_INVALID, "the session at the identity provider has ended: sign in again");
	return json_object_set_new(answer, "session_index", json_string_or_null(index));
}

int assertion_read(const xmlNode *assertion, const char *issuer, const struct assertion_rules *rules, json_t *answer,
	struct err *err)
{
	const xmlNode *conditions = tree_child(assertion, NS_ASSERTION, "Conditions");
	const xmlNode *subject = tree_child(assertion, NS_ASSERTION, "Subject");
	_cleanup_(freep) char *id = tree_attribute(assertion, "ID");
	_cleanup_(freep) char *own_issuer = tree_text(tree_child(assertion, NS_ASSERTION, "Issuer"));
	json_t *attributes = json_object();
	long long end = 0;

	json_object_set_new(answer, "attributes", attributes);
	if (!text_equal(own_issuer, issuer) || !tree_attribute_is(assertion, "Version", "2.0"))
		return err_set(err, ERR_INVALID, "the assertion is from another issuer than the response");
	if (tree_count(assertion, NS_ASSERTION, "Subject") != 1 ||
		tree_count(assertion, NS_ASSERTION, "Conditions") > 1)
		return err_set(err, ERR_INVALID, "the assertion has not the form that is accepted");
	if (bearer_check(subject, rules, &end, err) < 0 || audience_check(conditions, rules, err) < 0 ||
		times_check(conditions, rules->now, &end, err) < 0 || subject_read(subject, answer, err) < 0 ||
		session_read(assertion, rules->now, answer, err) < 0 || attributes_read(assertion, attributes, err) < 0)
		return -1;
	json_object_set_new(answer, "issuer", json_string(issuer));
	json_object_set_new(answer, "assertion_id", json_string(text_or_empty(id)));
	return json_object_set_new(answer, "not_on_or_after", json_integer(end));
}
