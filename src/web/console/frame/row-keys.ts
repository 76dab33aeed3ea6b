/** Keys that go about in whatever page is shown. */

/** To the next row, or the one before, over all tables of the page: rows are marked with `data-row`, and are links or have one. */
export function goToRow(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('#main [data-row]')];
  const links = rows.flatMap((row) => (row.matches('a') ? row : (row.querySelector<HTMLElement>('a') ?? [])));
  const here = links.findIndex((link) => link === document.activeElement);
  links[here < 0 ? 0 : Math.max(0, Math.min(links.length - 1, here + by))]?.focus();
}

/** To the first field of its filter. */
export function goToFilter(): void {
  document.querySelector<HTMLElement>('#main [data-filter="first"]')?.focus();
}
