import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from './languages.ts';

/** More characters than browsers send. The rest of the header is not read, so that a long one cannot make a refusal expensive. */
const MAX_READ = 256;
/** One entry of RFC 9110, section 12.5.4: a language range, of which only the first subtag counts, and its weight. */
const ENTRY = /^[\t ]*(\*|[a-z]{1,8})(?:-[a-z\d]{1,8})*[\t ]*(?:;[\t ]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[\t ]*)?$/i;

/** The language of a tag such as `de` or `de-AT`; undefined if it is not one of `LANGUAGES`. */
export function languageOfTag(tag: string): Language | undefined {
  const [first = ''] = tag.toLowerCase().split('-', 1);
  return LANGUAGES.find((language) => language === first);
}

/**
 * The language that an Accept-Language header prefers: the one with the highest weight, and the first of several with the same. Malformed
 * entries are ignored. If no language matches it is English: words in a wrong language are better than none.
 */
export function preferredLanguage(header: string | undefined): Language {
  if (header === undefined || header === '') return DEFAULT_LANGUAGE;
  const weights = weightsOf(header);
  const rest = weights.get('*') ?? 0;
  // A language that is not named has the weight of `*`, and comes after those that are named.
  for (const language of LANGUAGES) if (!weights.has(language)) weights.set(language, rest);
  weights.delete('*');
  let best: Language = DEFAULT_LANGUAGE;
  let highest = 0;
  for (const [language, weight] of weights) if (weight > highest) [best, highest] = [language as Language, weight];
  return best;
}

/** The weights in the order of the header. Of several variants of a language, the highest weight counts. */
function weightsOf(header: string): Map<Language | '*', number> {
  const weights = new Map<Language | '*', number>();
  for (const entry of entriesOf(header)) {
    const [, range = '', q = '1'] = ENTRY.exec(entry) ?? [];
    const language = range === '*' ? range : languageOfTag(range);
    const weight = Number(q);
    if (language !== undefined && (weights.get(language) ?? -1) < weight) weights.set(language, weight);
  }
  return weights;
}

/** The header's entries. If it is too long, the entry at the cut is dropped. */
function entriesOf(header: string): string[] {
  if (header.length <= MAX_READ) return header.split(',');
  return header.slice(0, MAX_READ).split(',').slice(0, -1);
}
