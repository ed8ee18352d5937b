// SPDX-License-Identifier: MPL-2.0
import type { ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Dialog } from "../components/dialog.tsx";
import { NotFound } from "../components/error_panel.tsx";
import { LiveRegion } from "../components/live_region.tsx";
import { useRender } from "../core/hooks.ts";
import { liveStart, onCatchUp } from "../core/live.ts";
import { partLoad } from "../core/part.ts";
import { type Match, navigate, onAddress, type PageProps, pathTo, type Route, routeMatch } from "../core/router.ts";
import { NewBuildNote } from "./connection_mark.tsx";
import { focusKeep, focusPage } from "./focus.ts";
import { ImpersonationBanner } from "./impersonation.tsx";
import { KeyList } from "./key_list.tsx";
import { keysStart, pageKeys } from "./keys.ts";
import { Notices } from "./notices.tsx";
import { barLinks, TopBar } from "./top_bar.tsx";

type Shown = { readonly Page: ComponentType<PageProps>; readonly params: PageProps["params"]; readonly path: string };

async function pageOf(match: Match | undefined): Promise<ComponentType<PageProps>> {
	return match ? (await partLoad(match.route.load)).default : NotFound;
}

// Loads the page of the address. The page before it stays until the new one is there.
function usePage(routes: readonly Route[]): Shown | undefined {
	const [shown, setShown] = useState<Shown | undefined>();
	const latest = useRef("");
	useEffect(() => {
		const load = async () => {
			const path = location.pathname;
			if (latest.current === path) {
				return;
			}
			latest.current = path;
			const match = routeMatch(routes, path);
			try {
				const Page = await pageOf(match);
				if (latest.current === path) {
					setShown({ Page, params: match?.params ?? {}, path });
				}
			} catch {
				latest.current = ""; // without a connection, it loads after the reconnection
			}
		};
		void load();
		const stops = [onAddress(() => void load()), onCatchUp(() => void load())];
		return () => {
			for (const stop of stops) {
				stop();
			}
		};
	}, [routes]);
	return shown;
}

// A new page starts at its top or at its fragment, with the focus at its heading, so that screen readers read it.
function useFocusAtStart(path: string | undefined): void {
	const first = useRef(true);
	useLayoutEffect(() => {
		if (path === undefined) {
			return;
		}
		if (!first.current) {
			if (!location.hash) {
				scrollTo(0, 0);
			}
			focusPage();
		}
		first.current = false;
	}, [path]);
}

function KeySheet({ onClose }: { readonly onClose: () => void }) {
	return (
		<Dialog title="Keys" onClose={onClose}>
			<KeyList />
		</Dialog>
	);
}

export function Shell({ routes }: { readonly routes: readonly Route[] }) {
	const render = useRender();
	const shown = usePage(routes);
	const [sheet, setSheet] = useState(false);
	const organization = shown?.params.org ?? "";
	useFocusAtStart(shown?.path);
	useEffect(() => {
		if (shown) {
			liveStart();
		}
	}, [shown]);
	useEffect(focusKeep, []);
	useEffect(() => onAddress(render), []);
	useEffect(
		() =>
			keysStart((pressed) => {
				if (pressed === "?") {
					setSheet(true);
					return true;
				}
				const link = barLinks.find((candidate) => pressed === `g ${candidate.word[0]?.toLowerCase()}`);
				if (link && organization) {
					navigate(pathTo(link.pattern, { org: organization }));
					return true;
				}
				return pageKeys[pressed]?.() ?? false;
			}),
		[organization],
	);
	return (
		<>
			<a class="skip" href="#main">
				Skip to content
			</a>
			<TopBar organization={organization} />
			<ImpersonationBanner />
			<NewBuildNote />
			<main id="main" tabIndex={-1} aria-busy={shown?.path !== location.pathname}>
				{shown && <shown.Page key={shown.path} params={shown.params} />}
			</main>
			<LiveRegion />
			<Notices org={organization} />
			{sheet && <KeySheet onClose={() => setSheet(false)} />}
		</>
	);
}
