/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_EXTERNAL_PERSON_H
#define SCHEDULER_AUTH_IDENTITY_EXTERNAL_PERSON_H

#include "common/json/json.h"

/* What a provider says about the person who has signed in. Borrowed. */
struct external_person {
	const char *provider_id, *issuer, *subject;
	const char *provisioned_as; /* the name under which SCIM knows the person, or NULL */
	const char *username;       /* that the person would have; NULL or unusable: made from the address */
	const char *email;          /* or NULL */
	bool email_verified;
	const json_t *groups; /* texts; NULL: the provider said nothing, so memberships stay */
	int site_admin;       /* 0 or 1; -1: the provider said nothing */
};

#endif
