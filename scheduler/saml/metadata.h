/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_METADATA_H
#define SCHEDULER_SAML_METADATA_H

/* Metadata documents: writes those of both parties, and reads a provider's. */

#include "scheduler/saml/parties.h"
#include "scheduler/saml/wire.h"

#define METADATA_INIT BUF_INIT(SAML_DOCUMENT_MAX)

/* Appends the document. A certificate that is none is left out. -1 if the buffer is too small. */
int metadata_write_own(const struct party_own *own, struct buf *document);
int metadata_write_provider(
	const struct party_provider *provider, const char *entity_id, struct buf *document, struct err *err);

/* Operations. */
int metadata_make(const json_t *request, json_t *answer, struct err *err);
int metadata_read(const json_t *request, json_t *answer, struct err *err);

#endif
