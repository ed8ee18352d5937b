/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_ACCOUNT_QR_H
#define SCHEDULER_UI_ACCOUNT_QR_H

#include "common/buf.h"

/* Appends a QR code of the text as an SVG element with the label for screen readers. The label is constant text. -1 if
 * the text is too long for a code. */
int qr_svg(const char *text, const char *label, struct buf *out);

#endif
