import { html, type Html } from './html.ts';
import { referencePages, referencePath } from './reference/groups.ts';
import list from './guides.json' with { type: 'json' };

/** A document of `docs/` that has a page of its own. */
export interface Guide {
  /** Name of the file without its extension, and of the page: `widget` is /docs/widget. */
  readonly name: string;
  readonly title: string;
  /** One sentence about its content. */
  readonly about: string;
}

/** The documents that the build makes pages of (scripts/build-guides.mjs), in the order of the list. */
export const guides: readonly Guide[] = list;

/** The path of a guide's page. */
export function guidePath({ name }: Pick<Guide, 'name'>): string {
  return `/docs/${name}`;
}

/** The part of the table of contents that all pages of /docs share. @param current the path of the page that it is on */
export function docsContents(current: string): Html {
  const line = (path: string, title: string): Html =>
    path === current
      ? html`<li><a href="${path}" aria-current="page">${title}</a></li>`
      : html`<li><a href="${path}">${title}</a></li>`;
  return html`<section>
      <h2>Guides</h2>
      <ul>
        ${guides.map((guide) => line(guidePath(guide), guide.title))}
      </ul>
    </section>
    <section>
      <h2>API reference</h2>
      <ul>
        ${line('/docs', 'Every request')}${referencePages.map((page) => line(referencePath(page), page.title))}
      </ul>
    </section> `;
}
