/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_SERVER_H
#define SCHEDULER_SAML_SERVER_H

#include "scheduler/saml/parties.h"

/* Lasso's view of both parties, made of metadata documents. ERR_CONFLICT if the provider's certificate is not usable.
 */
int server_make(const struct parties *parties, const char *entity_id, LassoServer **ret_server, struct err *err);
void server_freep(LassoServer **server);

#endif
