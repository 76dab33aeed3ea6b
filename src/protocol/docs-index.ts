/** What the search of /docs knows of a part of a page, one entry of `/docs/search.json`. */
export interface DocsPart {
  /** Where it is: `/docs/widget#events`. */
  readonly path: string;
  /** The title of its page. */
  readonly page: string;
  readonly title: string;
  /** How it begins, cut off. */
  readonly excerpt: string;
  /** Every word in it once, in lower case, with a space between two. */
  readonly words: string;
}
