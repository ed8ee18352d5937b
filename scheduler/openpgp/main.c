/* SPDX-License-Identifier: MPL-2.0 */
/*
 * runyard-openpgp: reads OpenPGP keys and verifies signatures for the scheduler, in a process that can do nothing else.
 * The scheduler starts it with a socket as standard input (scheduler/helper/wire.h) and an empty environment.
 */
#include "scheduler/openpgp/operations.h"

int main(void)
{
	helper_main(&(struct helper_program){
		.name = "runyard-openpgp", .init = openpgp_init, .operations = openpgp_operations});
}
