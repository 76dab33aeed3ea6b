import type { DocsPart } from '../../protocol/site-data.ts';

const SHOWN = 30;

/** Lists the parts of all pages that contain every word in the field, as links in place of the page. Arrow keys move through them. */
export function startSearch(field: HTMLInputElement): void {
  const told = document.querySelector('#found');
  const results = document.querySelector<HTMLElement>('#results');
  const page = document.querySelector<HTMLElement>('#text');
  const heading = document.querySelector<HTMLElement>('#searching');
  if (!told || !results || !page || !heading) return;
  let index: Promise<readonly DocsPart[]> | undefined = load();

  const show = async (): Promise<void> => {
    const asked = field.value;
    const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
    const parts = words.length === 0 ? [] : await (index ??= load());
    // The visitor may have typed more meanwhile.
    if (field.value !== asked) return;
    page.hidden = words.length > 0;
    heading.hidden = words.length === 0;
    const isAway = words.length > 0 && parts.length === 0;
    if (isAway) index = undefined;
    const found = find(parts, words);
    results.replaceChildren(...found.slice(0, SHOWN).map(item));
    told.textContent = isAway
      ? 'The search does not answer. Type on to try again.'
      : words.length === 0
        ? ''
        : summaryOf(found.length, asked.trim());
  };
  const empty = (): void => {
    if (field.value === '') return;
    field.value = '';
    field.dispatchEvent(new Event('input'));
  };

  field.addEventListener('input', () => void show());
  // Shows results for what was typed before this file was loaded.
  void show();
  document.addEventListener('click', ({ target }) => {
    // The link may lead to a place on this page, which is hidden.
    if (target instanceof Element && target.closest('.results a, .contents a')) {
      page.hidden = false;
      empty();
    }
  });
  addEventListener('keydown', (event) => {
    const { key, target } = event;
    const links = [...results.querySelectorAll('a')];
    const at = links.findIndex((link) => link === target);
    if (links.length === 0 || (target !== field && at < 0)) return;
    if (key === 'Enter' && target === field) links[0]?.click();
    if (key === 'Escape' && at >= 0) {
      field.focus();
      empty();
    }
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      const next = at + (key === 'ArrowDown' ? 1 : -1);
      if (next < 0) field.focus();
      else links[Math.min(next, links.length - 1)]?.focus();
    }
  });
}

/** The index, or an empty list if the server does not answer. It is requested again when the visitor types on. */
async function load(): Promise<readonly DocsPart[]> {
  try {
    const reply = await fetch('/docs/search.json');
    return reply.ok ? ((await reply.json()) as DocsPart[]) : [];
  } catch {
    return [];
  }
}

/** The parts that contain all words, best matches first: titles count most, then whole words. */
function find(parts: readonly DocsPart[], words: readonly string[]): DocsPart[] {
  const scored = parts.flatMap((part) => {
    const title = part.title.toLowerCase();
    const all = `${title} ${part.page.toLowerCase()} ${part.words}`;
    if (!words.every((word) => all.includes(word))) return [];
    const inTitle = words.filter((word) => title.includes(word)).length;
    const asWord = words.filter((word) => ` ${all} `.includes(` ${word} `)).length;
    return [{ part, score: 2 * inTitle + asWord }];
  });
  return scored.toSorted((one, other) => other.score - one.score).map(({ part }) => part);
}

function summaryOf(found: number, asked: string): string {
  return `${found === 0 ? 'Nothing has' : found === 1 ? '1 part has' : `${found} parts have`} “${asked}”.`;
}

function item({ path, page, title, excerpt }: DocsPart): HTMLElement {
  const link = document.createElement('a');
  link.href = path;
  const add = (tag: string, text: string): void =>
    link.append(Object.assign(document.createElement(tag), { textContent: text }), ' ');
  add('strong', title);
  if (title !== page) add('span', page);
  if (excerpt !== '') add('small', excerpt);
  const line = document.createElement('li');
  line.append(link);
  return line;
}
