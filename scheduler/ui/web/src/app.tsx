// SPDX-License-Identifier: MPL-2.0
import { render } from "preact";
import { routerStart } from "./core/router.ts";
import { sessionWatch } from "./core/session.ts";
import { routes } from "./pages/routes.ts";
import { Shell } from "./shell/shell.tsx";

const root = document.getElementById("app");
if (root) {
	routerStart(routes);
	sessionWatch();
	render(<Shell routes={routes} />, root);
}
