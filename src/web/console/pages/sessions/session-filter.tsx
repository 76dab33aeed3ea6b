/** The filter of the list. Every choice goes into the address at once. */
import { toggled, type Filter, type FilterName } from '../../data/filter.ts';
import { Choice, Text } from '../../parts/filter-fields.tsx';
import { StateMark } from '../../parts/marks.tsx';
import { SaveView } from '../../parts/saved-views.tsx';
import { REASON_NAMES, reasonWords } from '../../words/reasons.ts';
import { STATE_NAMES } from '../../words/states.ts';

interface Props {
  readonly filter: Filter;
  readonly onChange: (filter: Filter) => void;
}

const TIMES: readonly (readonly [from: string, words: string])[] = [
  ['-15m', 'last 15 min'],
  ['-1h', 'last hour'],
  ['-24h', 'last 24 h'],
  ['-7d', 'last 7 days'],
];

export function SessionFilter({ filter, onChange }: Props) {
  const set = (name: FilterName, value: string): void => onChange({ ...filter, [name]: value.trim() || undefined });
  const field = (name: FilterName) => ({
    value: filter[name] ?? '',
    onSet: (value: string): void => set(name, value),
  });
  const isFiltered = Object.keys(filter).length > 0;
  const states = (filter.state ?? '').split(',');
  return (
    <form class="filter" role="search" aria-label="Filter" onSubmit={(event) => event.preventDefault()}>
      <div class="chips" role="group" aria-label="State">
        {STATE_NAMES.map((state) => (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={states.includes(state)}
            onClick={() => set('state', toggled(filter.state, state))}
          >
            <StateMark state={state} />
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
      {isFiltered && (
        <>
          <button type="button" class="quiet" onClick={() => onChange({})}>
            Clear
          </button>
          <SaveView />
        </>
      )}
    </form>
  );
}
