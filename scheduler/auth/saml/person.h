/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SAML_PERSON_H
#define SCHEDULER_AUTH_SAML_PERSON_H

/* Reads the person from an assertion, by the settings. Pure. */

#include "scheduler/auth/identity/external_person.h"
#include "scheduler/auth/saml/provider.h"

/* Fills *ret_person from the helper's answer to `response`, whose texts it borrows. *ret_groups is a new reference that
 * `groups` borrows, or NULL. */
void saml_person(const struct saml_provider *provider, const json_t *answer, struct external_person *ret_person,
	json_t **ret_groups);

#endif
