/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_MAIL_ADDRESS_H
#define COMMON_HTTP_MAIL_ADDRESS_H

#include <stdbool.h>

/* True if the address can be used unescaped in a mail's headers and in SMTP commands: printable ASCII, one @, and no
 * characters with a special meaning there. */
bool mail_address_valid(const char *address);

#endif
