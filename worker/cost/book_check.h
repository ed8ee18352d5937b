/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_BOOK_CHECK_H
#define WORKER_COST_BOOK_CHECK_H

#include "worker/cost/book.h"

/* Checks all of a book, so that nothing in it can be wrong when a price is looked up. ERR_INVALID: the place in the
 * book ("resources.aws_eip.components.0.unit") and what is wrong there. */
int book_check(const struct book *book, struct err *err);

#endif
