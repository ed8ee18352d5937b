// SPDX-License-Identifier: MPL-2.0
// The script of pages that the server renders. They work without it.

import { menuStart } from "./menu/menu.ts";
import "./passkeys.ts";

for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu")) {
	menuStart(menu);
}
