/** What the search in /docs knows about one part of a page: an entry of `/docs/search.json`. */
export interface DocsPart {
  /** The address of the part: `/docs/widget#events`. */
  readonly path: string;
  /** The title of the page that it is in. */
  readonly page: string;
  readonly title: string;
  /** The beginning of its text. */
  readonly excerpt: string;
  /** Each word of its text once, in lower case, separated by spaces. */
  readonly words: string;
}
