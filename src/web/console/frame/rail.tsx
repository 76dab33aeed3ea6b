import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { listAddress } from '../data/places.ts';
import { shownPlaces } from '../pages/all.ts';
import { Icon } from '../components/icons.tsx';
import { useScope } from '../components/scope.tsx';

/** The navigation: at the left, or at the bottom of a narrow screen. */
export function Rail() {
  const { path } = useLocation();
  const { to: inScope } = useScope();
  const rail = useRef<HTMLElement>(null);
  // A narrow screen does not have room for all entries.
  useEffect(() => {
    rail.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [path]);
  return (
    <nav ref={rail} class="rail" aria-label="Pages">
      <ul>
        {shownPlaces().map(({ path: to, title, icon, key, covers }) => {
          const isWithin = (place = '/console'): boolean => place !== '/console' && `${path}/`.startsWith(`${place}/`);
          const isHere = path === to || isWithin(to) || isWithin(covers);
          return (
            <li key={to}>
              <a href={listAddress(inScope(to))} aria-current={isHere ? 'page' : undefined} title={`g ${key}`}>
                <Icon>
                  <path d={icon} />
                </Icon>
                {title}
              </a>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
