/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-saml: reads the XML of SAML 2.0 for the scheduler, in a process that can do nothing else. The scheduler
 * starts it with a socket as standard input (scheduler/helper/wire.h) and an empty environment.
 */
#include "scheduler/saml/serve.h"

int main(void)
{
	helper_main(
		&(struct helper_program){.name = "runyard-saml", .init = serve_init, .operations = saml_operations});
}
