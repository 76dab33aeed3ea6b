import { useComputed } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import { isHelpOpen, isPaletteOpen } from '../data/dialogs.ts';
import { logOut, me } from '../data/identity.ts';
import { singleKeys, theme, zone, type Theme } from '../data/preferences.ts';
import { now } from '../data/server-time.ts';
import { LiveButton } from '../components/freshness.tsx';
import { Icon, Mark } from '../components/icons.tsx';
import { Menu } from '../components/menu.tsx';
import { ScopeChoice, useScope } from '../components/scope.tsx';
import { clockText, zoneText } from '../labels/format.ts';

const themes: Readonly<Record<Theme, string>> = { system: 'As the system', light: 'Light', dark: 'Dark' };

export function TopBar() {
  const { to } = useScope();
  const isNarrow = useNarrow();
  return (
    <header class="top">
      <a class="wordmark" href={to('/console')} aria-label="Switchboard">
        <Mark />
        <span class="wide-only">Switchboard</span>
      </a>
      <button
        type="button"
        class="search"
        aria-label="Search or go to…"
        aria-keyshortcuts="/ Control+K Meta+K"
        onClick={() => (isPaletteOpen.value = true)}
      >
        <Icon>
          <circle cx="7" cy="7" r="4.5" />
          <path d="m10.5 10.5 4 4" />
        </Icon>
        <span class="wide-only">Search or go to…</span>
        <kbd class="wide-only" aria-hidden="true">
          /
        </kbd>
      </button>
      {!isNarrow && <ScopeChoice />}
      <Clock />
      <LiveButton />
      <You hasScope={isNarrow} />
    </header>
  );
}

export function toggleZone(): void {
  zone.value = zone.value === 'utc' ? 'local' : 'utc';
}

function Clock() {
  const text = useComputed(() => clockText(now.value, zone.value));
  return (
    <button type="button" class="quiet clock" title="UTC or local time (t)" onClick={toggleZone}>
      <span class="zone">{zoneText(now.peek(), zone.value)}</span> <span class="figure">{text}</span>
      <span class="unseen">: change between UTC and local time</span>
    </button>
  );
}

/** The operator, and their preferences. On a phone the scope is here, because the bar has no room for it. */
function You({ hasScope }: { readonly hasScope: boolean }) {
  const { email, role } = me.value ?? {};
  return (
    <Menu
      name="You and this browser"
      class="quiet you"
      label={
        <Icon>
          <circle cx="8" cy="5" r="3" />
          <path d="M2 14.5c.5-3 3-4.5 6-4.5s5.5 1.5 6 4.5" />
        </Icon>
      }
    >
      <p class="menu-title">
        {email ?? 'unknown'}
        {role !== undefined && <span class="soft"> {role.replaceAll('_', ' ')}</span>}
      </p>
      {hasScope && <ScopeChoice />}
      <fieldset>
        <legend>Colours</legend>
        {(Object.keys(themes) as Theme[]).map((value) => (
          <label key={value}>
            <input
              type="radio"
              name="theme"
              value={value}
              checked={theme.value === value}
              onChange={() => (theme.value = value)}
            />
            {themes[value]}
          </label>
        ))}
      </fieldset>
      <label>
        <SingleKeys />
        Single keys
      </label>
      <div class="menu-buttons">
        <button type="button" data-closes onClick={() => (isHelpOpen.value = true)}>
          Keys…
        </button>
        <a href="/console/your-logins" data-closes>
          Your logins
        </a>
        <button type="button" onClick={() => void logOut()}>
          Log out
        </button>
      </div>
    </Menu>
  );
}

/** Switches the keys without a modifier on and off. */
export function SingleKeys() {
  return (
    <input
      type="checkbox"
      checked={singleKeys.value === 'on'}
      onChange={({ currentTarget }) => (singleKeys.value = currentTarget.checked ? 'on' : 'off')}
    />
  );
}

const narrow = matchMedia('(max-width: 639.98px)');

/** Whether the screen is as narrow as a phone's, where rows are taller. */
function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches);
  useEffect(() => {
    const note = (): void => setNarrow(narrow.matches);
    narrow.addEventListener('change', note);
    return () => narrow.removeEventListener('change', note);
  }, []);
  return isNarrow;
}
