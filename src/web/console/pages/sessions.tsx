import { useEffect, useMemo } from 'preact/hooks';
import type { FeedFrame } from '../../../protocol/operator/feed.ts';
import { isForbidden } from '../data/api.ts';
import { dialog, endTargets, say } from '../data/dialogs.ts';
import { whyNoEnd, NOT_FOR_ENDING, type EndFilter } from '../data/ending.ts';
import { askedFilter, feedFilter, FILTER_NAMES, toggled, type FilterName } from '../data/filter.ts';
import { keepFresh, waiting } from '../data/live.ts';
import { now } from '../data/server-time.ts';
import { rowsOf, type SessionRows } from '../data/session-rows.ts';
import { Download } from '../components/download.tsx';
import { EndButton } from '../components/end-button.tsx';
import { useFilter, Choice, FilterForm, Text } from '../components/filter-fields.tsx';
import { Fresh } from '../components/freshness.tsx';
import { Page } from '../components/page.tsx';
import { SavedViews } from '../components/saved-views.tsx';
import { Empty, Failed, Loading, Outdated } from '../components/view-states.tsx';
import { countText } from '../labels/format.ts';
import { SessionTable } from './sessions/session-table.tsx';
import { StateMark } from '../components/status-marks.tsx';
import { REASON_NAMES, reasonWords, STATE_NAMES } from '../labels/sessions.ts';

/** Filters that an export does not support: it has no pages, and is not for finding a single session. */
const NOT_FOR_EXPORT = ['endingWithinSec', 'q'] as const;

/** The sessions that match a filter. The filter is in the address; the selection is not. */
export function SessionsPage() {
  const chosenBy = useFilter(FILTER_NAMES);
  const { filter, text: address } = chosenBy;
  const rows = useMemo(() => rowsOf(address, filter), [address]);
  const { selected } = rows;
  useEffect(() => {
    void rows.refresh();
    const view = { refresh: () => rows.refresh(), take: (frame: FeedFrame) => rows.take(frame) };
    const stop = keepFresh(view, { topics: ['counts', 'sessions'], filter: feedFilter(filter) });
    return () => {
      stop();
      waiting.value = 0;
    };
  }, [rows]);

  const isOpen = (ref: string): boolean => rows.get(ref)?.row.value.state !== 'ended';
  const end = (refs: readonly string[]): void => {
    const open = refs.filter(isOpen);
    if (open.length > 0 && whyNoEnd() === undefined) endTargets.value = open;
  };
  const isEndable = NOT_FOR_ENDING.every((name) => filter[name] === undefined) && (filter.state ?? 'open') !== 'ended';
  const asked = (): EndFilter => {
    const { sort: _, ...asked } = Object.fromEntries(askedFilter(filter, now.peek()));
    return asked;
  };
  const endFound = (): void => {
    const found = asked();
    // Loaded by then: the console loads the code of all pages soon after it is opened.
    void import('./session-pages.ts').then(
      ({ EndManyDialog }) => (dialog.value = <EndManyDialog filter={found} words={wordsOf(found)} />),
      () => say('The dialog could not be loaded: load the console again'),
    );
  };

  const open = [...selected.value].filter(isOpen);
  const chosen = open.length;
  const whyNot = whyNoEnd() ?? (chosen > 0 ? undefined : whyNoneFound(selected.value.size > 0, isEndable));
  return (
    <Page title="Sessions" class="page list-page">
      <div class="title-row">
        <h1>Sessions</h1>
        <Fresh count={rows.fresh.value.length} onShow={() => rows.showFresh()} />
        <span class="spring" />
        {chosen > 0 && <span class="soft">{countText(chosen)} selected</span>}
        <EndButton
          why={whyNot}
          title={chosen > 0 ? 'End what is selected (e)' : 'End all that the filter finds'}
          onEnd={() => (chosen > 0 ? end(open) : endFound())}
        />
      </div>
      <SessionFilter {...chosenBy} />
      <SavedViews />
      {NOT_FOR_EXPORT.every((name) => filter[name] === undefined) && (
        <Download what="sessions" words="Download all that the filter finds" filters={asked} />
      )}
      <Found key={address} rows={rows} onEnd={end} isFiltered={address !== ''} />
    </Page>
  );
}

/** Why nothing can be ended if no open session is selected. */
function whyNoneFound(isSelected: boolean, isEndable: boolean): string | undefined {
  if (isSelected) return 'What is selected has ended.';
  return isEndable ? undefined : 'Select sessions first (x): by this filter none is ended.';
}

/** The filter in words that continue a sentence. */
function wordsOf(asked: EndFilter): string {
  const parts = Object.entries(asked).map(([name, value]) => `${NAMES[name] ?? name} ${value.replaceAll(',', ' or ')}`);
  return parts.length === 0 ? 'of every tenant that you see' : parts.join(', ');
}

const NAMES: Readonly<Record<string, string>> = {
  tenantId: 'of the tenant',
  keyId: 'with the key',
  agentId: 'of the agent',
  caller: 'of the caller',
  subject: 'of the subject',
  from: 'started after',
  to: 'started before',
  q: 'with the ref',
};

interface FoundProps {
  readonly rows: SessionRows;
  readonly onEnd: (refs: readonly string[]) => void;
  readonly isFiltered: boolean;
}

function Found({ rows, onEnd, isFiltered }: FoundProps) {
  const { failure, isLoaded, shown } = rows;
  if (failure.value !== undefined && (!isLoaded.value || isForbidden(failure.value)))
    return <Failed failure={failure.value} what="the list of sessions" />;
  if (!isLoaded.value) return <Loading rows={12} />;
  if (shown.value.length > 0)
    return (
      <>
        <Outdated failure={failure.value} />
        <SessionTable rows={rows} onEnd={onEnd} />
      </>
    );
  return isFiltered ? (
    <Empty title="No session is like that" link={['/console/sessions', 'See all sessions']} />
  ) : (
    <Empty title="There was no session yet">
      <p>
        Start one at the <a href="/demo">demo</a>; it shows here within seconds.
      </p>
    </Empty>
  );
}

const TIMES: readonly (readonly [from: string, words: string])[] = [
  ['-15m', 'last 15 min'],
  ['-1h', 'last hour'],
  ['-24h', 'last 24 h'],
  ['-7d', 'last 7 days'],
];

/** Every choice goes into the address at once. */
function SessionFilter({ filter, field, onClear }: ReturnType<typeof useFilter<FilterName>>) {
  const state = field('state');
  const states = state.value.split(',');
  return (
    <FilterForm onClear={onClear} isSavable>
      <div class="chips" role="group" aria-label="State">
        {STATE_NAMES.map((name) => (
          <button
            key={name}
            type="button"
            class="chip"
            aria-pressed={states.includes(name)}
            onClick={() => state.onSet(toggled(state.value, name))}
          >
            <StateMark state={name} />
          </button>
        ))}
      </div>
      <Text label="Tenant" suggest="tenant" {...field('tenantId')} isFirst />
      <Text label="Key" suggest="key" {...field('keyId')} />
      <Text label="Agent" suggest="agent" {...field('agentId')} />
      {/* Ids are usually looked up by the search, but a link may filter by one. */}
      {filter.q !== undefined && <Text label="Id or ref" {...field('q')} />}
      {filter.subject !== undefined && <Text label="Subject" {...field('subject')} />}
      <Choice
        {...field('caller')}
        label="Caller"
        values={[
          ['widget', 'widget'],
          ['console', 'console'],
        ]}
      />
      <Choice
        {...field('reason')}
        label="Ended by"
        values={REASON_NAMES.map((reason) => [reason, reasonWords(reason)] as const)}
      />
      <Choice label="Started" values={TIMES} {...field('from')} />
      {filter.to !== undefined && <Choice label="Started before" values={[]} {...field('to')} />}
    </FilterForm>
  );
}
