/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_BOOK_CHECK_H
#define WORKER_COST_BOOK_CHECK_H

#include "worker/cost/book.h"

/* Validates a whole book, so that a price lookup needs no checks. ERR_INVALID: the place in the book
 * ("resources.aws_eip.components.0.unit") and the defect. */
int book_check(const struct book *book, struct err *err);

#endif
