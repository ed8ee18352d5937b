/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_API_H
#define SCHEDULER_API_API_H

/* The declarations that handlers share: every handler of routes.def, requests and responses. */

#include "scheduler/api/handlers.h"
#include "scheduler/http/request.h"

#endif
