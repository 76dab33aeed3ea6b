import { useKeys } from './keys.ts';

/** `j` and `k` go from row to row of the page: to the links that are marked with `data-row`. */
export function useRowKeys(): void {
  const go = (by: 1 | -1): void => {
    const links = [...document.querySelectorAll<HTMLElement>('#main [data-row]')];
    const here = links.indexOf(document.activeElement as HTMLElement);
    const there = here === -1 ? 0 : Math.max(0, Math.min(links.length - 1, here + by));
    links[there]?.focus();
  };
  useKeys({ j: () => go(1), k: () => go(-1) });
}
