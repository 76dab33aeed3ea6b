/** Marks where the visitor is reading in the table of contents, and closes it on phones when something is chosen. */
export function followPlace(): void {
  followOldAddress();
  addEventListener('hashchange', followOldAddress);
  const contents = document.querySelector<HTMLElement>('.contents');
  if (!contents) return;
  contents.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('a') && contents.matches(':popover-open')) contents.hidePopover();
  });
  const links = new Map(
    [...contents.querySelectorAll<HTMLAnchorElement>('li > a[href^="#"]')].map((link) => [link.hash.slice(1), link]),
  );
  let current: HTMLAnchorElement | undefined;
  const observer = new IntersectionObserver(
    (seen) => {
      const first = seen.find(({ isIntersecting }) => isIntersecting);
      const link = first && links.get(first.target.id);
      if (!link || link === current) return;
      current?.removeAttribute('aria-current');
      link.setAttribute('aria-current', 'true');
      current = link;
      keepInView(contents, link);
    },
    { rootMargin: '-80px 0px -75% 0px' },
  );
  for (const entry of document.querySelectorAll('.entry, .part')) observer.observe(entry);
}

/** Scrolls only the table of contents, not the page. */
function keepInView(contents: HTMLElement, link: HTMLElement): void {
  const [box, at] = [contents.getBoundingClientRect(), link.getBoundingClientRect()];
  if (at.top < box.top + 40 || at.bottom > box.bottom - 40) contents.scrollTop += at.top - box.top - box.height / 3;
}

/**
 * Follows addresses such as `/docs#createSession` and `#/Voice%20sessions/createSession`, from when the reference was a single page. Their
 * targets now have pages of their own; the line of the index with that id links there.
 */
function followOldAddress(): void {
  const place = location.hash.slice(1).replace(/^\/[^/]+\//, '');
  const link = place === '' ? null : document.getElementById(place)?.querySelector<HTMLAnchorElement>(':scope > a');
  if (link?.closest('.index')) location.replace(link.href);
}
