/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_HTTP_MAIL_ADDRESS_H
#define COMMON_HTTP_MAIL_ADDRESS_H

#include <stdbool.h>

/* Whether the address can stand in a mail's headers, and in a command to a mail server, as it is: printable ASCII, one
 * @, nothing that these read as something else. */
bool mail_address_valid(const char *address);

#endif
