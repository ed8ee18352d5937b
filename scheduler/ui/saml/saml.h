/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_SAML_SAML_H
#define SCHEDULER_UI_SAML_SAML_H

#include "scheduler/auth/saml/provider.h"
#include "scheduler/ui/page.h"

/* Links the signed-in user's account to one at the provider, after a question. */
#define SAML_LINK_PATH SAML_AUTH_PATH "?purpose=link&return=" IDENTITIES_PATH

#endif
