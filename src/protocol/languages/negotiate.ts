import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from './all.ts';

/** Browsers send less. What stands behind is not read, so that nobody can make a refusal dear. */
const MAX_READ = 256;
/** One entry of RFC 9110, section 12.5.4: a range of languages, of which the first subtag counts, and its weight. */
const ENTRY = /^[\t ]*(\*|[a-z]{1,8})(?:-[a-z\d]{1,8})*[\t ]*(?:;[\t ]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)[\t ]*)?$/i;

/** The language of a tag such as `de` or `de-AT`, where there is one. */
export function languageOfTag(tag: string): Language | undefined {
  const [first = ''] = tag.toLowerCase().split('-', 1);
  return LANGUAGES.find((language) => language === first);
}

/**
 * The language that an Accept-Language header prefers: the one with the highest weight, of equal ones the first. What cannot be read is as
 * if it were left out. English where none fits, because words in a wrong language are better than none.
 */
export function preferredLanguage(header: string | undefined): Language {
  if (header === undefined || header === '') return DEFAULT_LANGUAGE;
  const weights = weightsOf(header);
  const rest = weights.get('*') ?? 0;
  // A language that is not named has the weight of `*`, and comes after those that are.
  for (const language of LANGUAGES) if (!weights.has(language)) weights.set(language, rest);
  weights.delete('*');
  let best: Language = DEFAULT_LANGUAGE;
  let highest = 0;
  for (const [language, weight] of weights) if (weight > highest) [best, highest] = [language as Language, weight];
  return best;
}

/** In the order in which they are named; of several variants of a language the highest counts. */
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

/** Of a header that is too long, without the entry that is cut. */
function entriesOf(header: string): string[] {
  if (header.length <= MAX_READ) return header.split(',');
  return header.slice(0, MAX_READ).split(',').slice(0, -1);
}
