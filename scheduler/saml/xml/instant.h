/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_XML_INSTANT_H
#define SCHEDULER_SAML_XML_INSTANT_H

/* Times of SAML: xs:dateTime in UTC. Pure. */

#include "common/base.h"

/* "2026-11-21T01:25:00Z", with or without a fraction, as seconds since 1970. -1 for any other text. */
int instant_parse(const char *text, long long *ret_seconds);

enum { INSTANT_SIZE = 24 };
/* The text of the seconds. */
void instant_text(long long seconds, char ret_text[INSTANT_SIZE]);

#endif
