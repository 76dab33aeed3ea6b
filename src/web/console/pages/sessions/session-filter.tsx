/** The filter of the list. Every choice goes into the address at once. */
import { toggled, type FilterName } from '../../data/filter.ts';
import { Choice, FilterForm, Text, type useFilter } from '../../components/filter-fields.tsx';
import { StateMark } from '../../components/status-marks.tsx';
import { REASON_NAMES, reasonWords } from '../../labels/reasons.ts';
import { STATE_NAMES } from '../../labels/states.ts';

const TIMES: readonly (readonly [from: string, words: string])[] = [
  ['-15m', 'last 15 min'],
  ['-1h', 'last hour'],
  ['-24h', 'last 24 h'],
  ['-7d', 'last 7 days'],
];

export function SessionFilter({ filter, field, onClear }: ReturnType<typeof useFilter<FilterName>>) {
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
