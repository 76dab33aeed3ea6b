import { html, type Html } from './html.ts';
import list from './guides.json' with { type: 'json' };

/** A document of `docs/` that is a page of its own. */
export interface Guide {
  /** Of its file without the ending, and of its page: `widget` is /docs/widget. */
  readonly name: string;
  readonly title: string;
  /** A sentence on what is in it. */
  readonly about: string;
}

/** What the build makes pages of (config/build-guides.mjs), in the order in which they are listed. */
export const guides: readonly Guide[] = list;

/** The part of the contents that all pages of /docs have. @param current the page that it is on: a guide's name, or none for the reference */
export function guideContents(current?: string): Html {
  const reference = { name: undefined, path: '/docs', title: 'API reference' };
  const all = [reference, ...guides.map(({ name, title }) => ({ name, path: `/docs/${name}`, title }))];
  return html`<section>
    <h2>Documentation</h2>
    <ul>
      ${all.map(({ name, path, title }) =>
        name === current
          ? html`<li><a href="${path}" aria-current="page">${title}</a></li>`
          : html`<li><a href="${path}">${title}</a></li>`,
      )}
    </ul>
  </section>`;
}
