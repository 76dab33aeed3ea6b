/** One field that leads everywhere: to pages, actions, and what the server finds. A combobox with a list, as the APG describes it. */
import { useSignal } from '@preact/signals';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import type { SearchHit } from '../../../protocol/operator/search.ts';
import { isHelpOpen, isPaletteOpen } from '../data/dialogs.ts';
import { logOut, isOfInstallation } from '../data/identity.ts';
import { theme } from '../data/preferences.ts';
import { savedViews, viewHref } from '../data/saved-views.ts';
import { isAddress, search, type SearchResult } from '../data/search.ts';
import { shownPlaces } from '../pages/all.ts';
import { togglePause } from '../components/freshness.tsx';
import { Modal } from '../components/modal.tsx';
import { useScope } from '../components/scope.tsx';
import { toggleZone } from './top-bar.tsx';

interface Choice {
  readonly kind: string;
  readonly label: string;
  readonly act: () => void;
}

const ASK_AFTER_MS = 250;
const NOTHING: SearchResult = { hits: [] };
const EXACT: ReadonlySet<string> = new Set<SearchHit['kind']>(['session', 'call', 'login', 'request']);
const MIN_LENGTH = 3;
const MAX_LENGTH = 254;

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
  const { to } = useScope();
  const text = useSignal('');
  const answer = useSignal<SearchResult>(NOTHING);
  const active = useSignal(0);
  const list = useRef<HTMLUListElement>(null);
  /** Enter was pressed before the answer arrived; it then opens the first hit. */
  const wantsFirst = useRef(false);
  /** The e-mail address that the operator confirmed with Enter. */
  const address = useSignal('');
  useServerHits(isAddress(text.value) ? address.value : text.value, (found) => {
    answer.value = found;
    const [first, second] = 'hits' in found ? found.hits : [];
    // An address may match several things. Then the operator chooses.
    if (first === undefined || !wantsFirst.current || (isAddress(text.value) && second !== undefined)) return;
    close();
    route(first.href);
  });

  const pages = shownPlaces().map(({ title, path }) => ({ kind: 'page', label: title, act: () => route(to(path)) }));
  const saved = savedViews.value.map((view) => ({ kind: 'view', label: view.name, act: () => route(viewHref(view)) }));
  const hits = 'hits' in answer.value ? answer.value.hits : [];
  const found = hits.map((hit) => ({ kind: hit.kind, label: labelOf(hit), act: () => route(hit.href) }));
  const words = text.value.trim().toLowerCase();
  const own = [...pages, ...saved, ...actions].filter(({ label }) => label.toLowerCase().includes(words));
  // An id's exact match comes first, things that merely have a similar name come last.
  const exact = found.filter(({ kind }) => EXACT.has(kind));
  const choices: readonly Choice[] = [...exact, ...own, ...found.filter((choice) => !exact.includes(choice))];
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
      if (isAddress(text.peek()) && isOfInstallation.value) address.value = text.peek();
      choose(choices[here]);
    },
  };

  return (
    <Modal title="Search" class="palette" onClose={close}>
      <input
        role="combobox"
        type="text"
        aria-label="Search or go to"
        placeholder={isOfInstallation.value ? 'Id, request id, e-mail address, name…' : 'Id, request id, name, page…'}
        aria-expanded={choices.length > 0}
        aria-controls="palette-list"
        aria-autocomplete="list"
        aria-activedescendant={choices.length > 0 ? `choice-${here}` : undefined}
        autocomplete="off"
        spellcheck={false}
        maxLength={MAX_LENGTH}
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
      {choices.length === 0 && <p class="palette-none">{noneWords(text.value, answer.value, address.value)}</p>}
      <p class="unseen" role="status">
        {choices.length} found
      </p>
    </Modal>
  );
}

/** What it is, preceded by its id if the label does not include that. */
function labelOf({ kind, id, label }: SearchHit): string {
  return kind === 'session' || kind === 'call' || kind === 'login' ? label : `${id}: ${label}`;
}

function noneWords(text: string, answer: SearchResult, address: string): string {
  if ('failure' in answer) {
    const { failure } = answer;
    return failure.kind === 'refused' ? failure.message : 'The service does not answer.';
  }
  if (!isAddress(text)) return 'Nothing found. Paste a whole id: parts of one are not searched.';
  if (!isOfInstallation.value) return 'Your role does not look for addresses: ask an operator (OPERATOR_EMAILS).';
  return address === text
    ? 'Nothing is known of this address.'
    : 'Press Enter to look for this address. The audit keeps that you did, and a hash of it.';
}

/** Asks the server when the operator pauses in typing. Answers that come too late are dropped. */
function useServerHits(text: string, show: (found: SearchResult) => void): void {
  useEffect(() => {
    const wanted = text.trim();
    let isOver = false;
    if (wanted.length < MIN_LENGTH) {
      show(NOTHING);
      return undefined;
    }
    const timer = setTimeout(() => {
      void search(wanted).then((found) => {
        if (!isOver) show(found);
      });
    }, ASK_AFTER_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [text]);
}
