/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_TERRAFORM_MODULE_DESCRIPTION_H
#define COMMON_TERRAFORM_MODULE_DESCRIPTION_H

/*
 * The description of a module's version, which a worker makes of its archive and the scheduler stores:
 *
 *	{"root": M, "submodules": [M], "examples": [M], "error": text or null, "cut": boolean}
 *
 * Submodules are the folders of modules/, examples those of examples/. `error` is the first defect, with its file and
 * line; what could be read is described nevertheless. `cut`: the module has more than is described. M is
 *
 *	{"path": "modules/subnet", "name": "subnet", "readme": text, "empty": boolean, "required_version": text,
 *	 "inputs": [{"name", "type", "description", "default", "required", "sensitive"}],
 *	 "outputs": [{"name", "description", "sensitive"}],
 *	 "dependencies": [{"name", "source", "version"}],
 *	 "provider_dependencies": [{"name", "namespace", "source", "version"}],
 *	 "resources": [{"type", "name", "mode"}]}
 *
 * All but the booleans `required`, `sensitive` and `empty` are texts, "" if the module does not say. `type` and
 * `default` are expressions of the language: the default "a" has its quotes. That of a sensitive input is left out.
 * `empty`: there is no configuration. `mode` is managed, data or ephemeral.
 */

enum { MODULE_DESCRIPTION_MAX = 1 << 20 }; /* bytes of it as JSON */

#endif
