// SPDX-License-Identifier: MPL-2.0
// The search of the documentation (tools/docs.mjs). Without scripts the pages have their list alone.

type Index = {
	readonly pages: readonly (readonly [address: string, title: string])[];
	readonly sections: readonly (readonly [page: number, anchor: string, title: string])[];
	readonly words: Readonly<Record<string, string>>; // the first section, then differences
};

const maxShown = 20;
const pageTitleScore = 4;
const titleScore = 8;

// The numbers of the sections that have a word with this beginning.
function sectionsWith(index: Index, beginning: string): Set<number> {
	const found = new Set<number>();
	for (const [word, differences] of Object.entries(index.words)) {
		if (word.startsWith(beginning)) {
			let section = 0;
			for (const difference of differences.split(" ")) {
				section += Number(difference);
				found.add(section);
			}
		}
	}
	return found;
}

// Sections that have all words, those with the words in their titles first.
export function sectionsFind(index: Index, text: string): number[] {
	const wanted = text.toLowerCase().match(/[\p{L}\p{N}_][\p{L}\p{N}_.-]*/gu) ?? [];
	const [first, ...others] = wanted.map((word) => sectionsWith(index, word.replace(/[.-]+$/, "")));
	if (!first) {
		return [];
	}
	const score = (section: number) => {
		const [page, , title] = index.sections[section] ?? [0, "", ""];
		const has = (where: string | undefined, word: string) => (where?.toLowerCase().includes(word) ? 1 : 0);
		return wanted.reduce((sum, word) => sum + has(title, word) * titleScore + has(index.pages[page]?.[1], word) * pageTitleScore, 0);
	};
	return [...first].filter((section) => others.every((other) => other.has(section))).sort((a, b) => score(b) - score(a) || a - b);
}

function resultOf(index: Index, section: number): HTMLLIElement {
	const [page, anchor, title] = index.sections[section] ?? [0, "", ""];
	const [address, pageTitle] = index.pages[page] ?? ["", ""];
	const link = document.createElement("a");
	link.href = anchor ? `${address}#${anchor}` : address;
	link.textContent = anchor ? `${pageTitle}: ${title}` : pageTitle;
	const item = document.createElement("li");
	item.append(link);
	return item;
}

function searchStart(box: HTMLElement): void {
	const field = box.querySelector("input");
	const status = box.querySelector("p");
	const list = box.querySelector("ol");
	if (!field || !status || !list) {
		return;
	}
	let index: Promise<Index> | undefined;
	const load = () => {
		index ??= fetch(box.dataset.index ?? "").then((answer) => (answer.ok ? answer.json() : Promise.reject(new Error(answer.statusText))));
		return index;
	};
	field.addEventListener("input", async () => {
		const text = field.value;
		try {
			const loaded = await load();
			if (text !== field.value) {
				return;
			}
			const found = sectionsFind(loaded, text);
			list.replaceChildren(...found.slice(0, maxShown).map((section) => resultOf(loaded, section)));
			status.textContent = text.trim() ? `${found.length === 1 ? "1 section" : `${found.length} sections`}` : "";
		} catch {
			index = undefined;
			status.textContent = "The index can't be loaded";
		}
	});
	box.hidden = false;
}

for (const box of document.querySelectorAll<HTMLElement>(".docs-search")) {
	searchStart(box);
}
