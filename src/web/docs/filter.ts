/** Shows only the entries that have all words of the field, and says how many those are. */
export function startFilter(): void {
  const field = document.querySelector<HTMLInputElement>('#filter');
  const told = document.querySelector('#matches');
  if (!field || !told) return;
  const entries = [...document.querySelectorAll<HTMLElement>('.entry')];
  const sections = [...document.querySelectorAll<HTMLElement>('main > .group, .contents > section')];
  const links = new Map<string, HTMLElement[]>();
  for (const link of document.querySelectorAll<HTMLAnchorElement>('.contents li > a')) {
    const item = link.parentElement;
    if (item) links.set(link.hash.slice(1), [...(links.get(link.hash.slice(1)) ?? []), item]);
  }
  const texts = new Map<HTMLElement, string>();
  const textOf = (entry: HTMLElement): string => {
    const known = texts.get(entry) ?? `${entry.id} ${entry.textContent ?? ''}`.toLowerCase();
    texts.set(entry, known);
    return known;
  };

  const apply = (): void => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const entry of entries) {
      const fits = words.every((word) => textOf(entry).includes(word));
      found += fits ? 1 : 0;
      entry.hidden = !fits;
      for (const item of links.get(entry.id) ?? []) item.hidden = !fits;
    }
    for (const section of sections)
      section.hidden = section.querySelector('.entry:not([hidden]), li:not([hidden])') === null;
    told.textContent = words.length === 0 ? '' : `${found} of ${entries.length} entries have “${field.value.trim()}”.`;
  };

  field.addEventListener('input', apply);
  // An address may lead to what is hidden now.
  addEventListener('hashchange', () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target?.closest<HTMLElement>('[hidden]') === null || !target) return;
    field.value = '';
    field.dispatchEvent(new Event('input'));
    target.scrollIntoView();
  });
}
