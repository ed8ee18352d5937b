/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_OPENPGP_WIRE_H
#define SCHEDULER_OPENPGP_WIRE_H

/*
 * The requests of the scheduler to its helper process runyard-openpgp (scheduler/helper/wire.h). `do` is the name of an
 * operation of operations.def.
 */

#include "scheduler/helper/wire.h"

enum {
	OPENPGP_KEY_MAX = 64 << 10,       /* bytes of an armored key */
	OPENPGP_DOCUMENT_MAX = 64 << 10,  /* bytes of a signed document */
	OPENPGP_SIGNATURE_MAX = 16 << 10, /* bytes of a signature */
	OPENPGP_SECONDS = 5,              /* for one request */
};

#endif
