/** One field for all ways: pages, actions, and what the server finds. A combobox with a list, as the APG describes it. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { isHelpOpen, isPaletteOpen } from '../data/dialogs.ts';
import { logOut } from '../data/identity.ts';
import { theme } from '../data/preferences.ts';
import { search } from '../data/search.ts';
import type { Hit } from '../data/shapes.ts';
import { PLACES } from '../pages/all.ts';
import { togglePause } from './freshness.tsx';
import { Modal } from './modal.tsx';
import { toggleZone } from './top-bar.tsx';

interface Choice {
  readonly kind: string;
  readonly label: string;
  readonly act: () => void;
}

const ASK_AFTER_MS = 150;
const SHORTEST = 3;
const LONGEST = 254;

const actions: readonly Choice[] = [
  { kind: 'action', label: 'Pause, or follow again', act: togglePause },
  { kind: 'action', label: 'Change between UTC and local time', act: toggleZone },
  { kind: 'action', label: 'Light colours', act: () => (theme.value = 'light') },
  { kind: 'action', label: 'Dark colours', act: () => (theme.value = 'dark') },
  { kind: 'action', label: 'Show all keys', act: () => (isHelpOpen.value = true) },
  { kind: 'action', label: 'Log out', act: () => void logOut() },
];

export function Palette() {
  return isPaletteOpen.value ? <OpenPalette /> : null;
}

function OpenPalette() {
  const { route } = useLocation();
  const text = useSignal('');
  const hits = useSignal<readonly Hit[]>([]);
  const active = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  /** Enter came before the answer: then the first hit is meant. */
  const wantsFirst = useRef(false);
  useServerHits(text.value, (found) => {
    hits.value = found;
    const [first] = found;
    if (first === undefined || !wantsFirst.current) return;
    close();
    route(first.href);
  });

  const pages = PLACES.map(({ title, path }) => ({ kind: 'page', label: title, act: () => route(path) }));
  const found = hits.value.map(({ kind, label, href }) => ({ kind, label, act: () => route(href) }));
  const words = text.value.trim().toLowerCase();
  const own = [...pages, ...actions].filter(({ label }) => label.toLowerCase().includes(words));
  const choices: readonly Choice[] = [...found, ...own];
  const here = Math.min(active.value, Math.max(0, choices.length - 1));

  const close = (): void => {
    isPaletteOpen.value = false;
  };
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    close();
    choice.act();
  };
  const move = (to: number): void => {
    active.value = (to + choices.length) % Math.max(1, choices.length);
    list.current?.children[active.value]?.scrollIntoView({ block: 'nearest' });
  };
  const moves: Readonly<Record<string, () => void>> = {
    ArrowDown: () => move(here + 1),
    ArrowUp: () => move(here - 1),
    Enter: () => {
      wantsFirst.current = true;
      choose(choices[here]);
    },
  };

  return (
    <Modal title="Search" class="palette" onClose={close}>
      <input
        role="combobox"
        type="text"
        aria-label="Search or go to"
        placeholder="Session id, request id, page…"
        aria-expanded={choices.length > 0}
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 ? `choice-${here}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={LONGEST}
        value={text.value}
        onInput={({ currentTarget }) => {
          text.value = currentTarget.value;
          active.value = 0;
          wantsFirst.current = false;
        }}
        onKeyDown={(event) => {
          const move = moves[event.key];
          if (move === undefined || event.isComposing) return;
          event.preventDefault();
          move();
        }}
      />
      <ul ref={list} id="palette-list" role="listbox" aria-label="Found">
        {choices.map((choice, index) => (
          <li
            key={`${choice.kind} ${choice.label}`}
            id={`choice-${index}`}
            role="option"
            aria-selected={index === here}
            onClick={() => choose(choice)}
          >
            {choice.label} <span class="soft">{choice.kind}</span>
          </li>
        ))}
      </ul>
      {choices.length === 0 && (
        <p class="palette-none">Nothing found. Paste a whole id: parts of one are not searched.</p>
      )}
      <p class="hidden" role="status">
        {choices.length} found
      </p>
    </Modal>
  );
}

/** Asks once the typing rests; an answer that comes too late is dropped. */
function useServerHits(text: string, show: (hits: readonly Hit[]) => void): void {
  useEffect(() => {
    const wanted = text.trim();
    let isOver = false;
    if (wanted.length < SHORTEST) {
      show([]);
      return undefined;
    }
    const timer = setTimeout(() => {
      void search(wanted).then((hits) => {
        if (!isOver) show(hits);
      });
    }, ASK_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
}
