// SPDX-License-Identifier: MPL-2.0
// Markdown of users and services as sanitized elements. This module loads when the first Markdown is shown.

import DOMPurify from "dompurify";
import { Marked } from "marked";
import { safeUrl } from "../core/links.ts";

const lowestHeading = 6;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

// HTML inside of Markdown is text, except for line breaks. Chromium's console would have a line for each event handler
// that the sanitizer's parser sees.
function htmlAsText(html: string): string {
	return /^<br\s*\/?>$/i.test(html.trim()) ? "<br>" : html.replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

const marked = new Marked({ gfm: true, breaks: true, async: false, renderer: { html: ({ text }) => htmlAsText(text) } });

const tags = [
	..."a abbr b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img input ins kbd li ol p pre".split(" "),
	..."q s samp small span strong sub summary sup table tbody td tfoot th thead tr u ul".split(" "),
];

function replaced(element: Element, name: string): HTMLElement {
	const made = document.createElement(name);
	made.append(...element.childNodes);
	element.replaceWith(made);
	return made;
}

// An image is a link to it: pages load nothing from elsewhere.
function imageToLink(image: Element): void {
	const link = document.createElement("a");
	const source = image.getAttribute("src") ?? "";
	link.textContent = image.getAttribute("alt") || source || "image";
	link.setAttribute("href", source);
	image.replaceWith(link);
}

function linkCheck(link: Element): void {
	const safe = safeUrl(link.getAttribute("href") ?? "");
	if (safe) {
		link.setAttribute("href", safe);
		link.setAttribute("rel", "noopener noreferrer");
	} else {
		link.removeAttribute("href");
	}
}

// markdownRender: elements of a few kinds, without styles, ids, images and scripts. Links lead to http and https only.
// Headings are below the page's heading of level `below`.
export function markdownRender(text: string, below: number): DocumentFragment {
	const html = marked.parse(text) as string;
	const fragment = DOMPurify.sanitize(html, {
		ALLOWED_TAGS: tags,
		ALLOWED_ATTR: ["href", "src", "alt", "title", "checked", "type", "start", "align", "open"],
		ALLOW_DATA_ATTR: false,
		ALLOW_ARIA_ATTR: false,
		RETURN_DOM_FRAGMENT: true,
	});
	for (const image of fragment.querySelectorAll("img")) {
		imageToLink(image);
	}
	for (const link of fragment.querySelectorAll("a")) {
		linkCheck(link);
	}
	for (const heading of fragment.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
		replaced(heading, `h${Math.min(Number(heading.tagName[1]) + below, lowestHeading)}`);
	}
	for (const box of fragment.querySelectorAll("input")) {
		box.replaceWith(box.hasAttribute("checked") ? "☑ " : "☐ ");
	}
	for (const pre of fragment.querySelectorAll("pre")) {
		pre.tabIndex = 0; // it scrolls
	}
	return fragment;
}
