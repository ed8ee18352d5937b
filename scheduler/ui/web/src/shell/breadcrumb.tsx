// SPDX-License-Identifier: MPL-2.0
export type Crumb = { readonly word: string; readonly href?: string };

// Shows the path to the page: organization, project, workspace. The last entry is the page itself.
export function Breadcrumb({ crumbs }: { readonly crumbs: readonly Crumb[] }) {
	return (
		<nav class="breadcrumb" aria-label="Breadcrumb">
			<ol>
				{crumbs.map((crumb, i) => (
					<li key={crumb.word}>
						{crumb.href ? (
							<a href={crumb.href}>{crumb.word}</a>
						) : (
							<span aria-current={i === crumbs.length - 1 ? "page" : undefined}>{crumb.word}</span>
						)}
					</li>
				))}
			</ol>
		</nav>
	);
}
