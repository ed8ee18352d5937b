/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/ui/account/qr.h"

#include <qrencode.h>

enum { QUIET = 4 /* modules around the code that stay light */ };

/* One subpath for each run of dark modules in a row. */
static void row_draw(const QRcode *code, int row, struct buf *out)
{
	const unsigned char *modules = &code->data[row * code->width];

	for (int at = 0; at < code->width; at++) {
		int from = at;

		while (at < code->width && modules[at] & 1)
			at++;
		if (at > from)
			buf_printf(out, "M%d %dh%dv1h-%dz", from + QUIET, row + QUIET, at - from, at - from);
	}
}

int qr_svg(const char *text, const char *label, struct buf *out)
{
	QRcode *code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M);
	int size;

	if (!code)
		return -1;
	size = code->width + 2 * QUIET;
	buf_printf(out,
		"<svg class=\"qr\" role=\"img\" aria-label=\"%s\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" "
		"shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 0h%dv%dH0z\"/><path fill=\"#000\" d=\"",
		label, size, size, size * 4, size * 4, size, size);
	for (int row = 0; row < code->width; row++)
		row_draw(code, row, out);
	buf_text(out, "\"/></svg>\n");
	QRcode_free(code);
	return 0;
}
