/** Fields of a filter. Each choice takes effect at once; an empty value means that nothing is chosen. */
import { useLocation } from 'preact-iso';
import { useEffect, useId, useRef } from 'preact/hooks';
import { queryText } from '../data/query.ts';
import { readSuggestions, suggestionsOf, type Suggested } from '../data/suggestions.ts';

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onSet: (value: string) => void;
}

interface TextProps extends FieldProps {
  /** Whether the key `f` focuses it. */
  readonly isFirst?: boolean;
  /** What to suggest while somebody types. */
  readonly suggest?: Suggested;
}

export function Text({ label, value, onSet, isFirst = false, suggest }: TextProps) {
  const listId = useId();
  const { query } = useLocation();
  const field = useRef<HTMLInputElement>(null);
  // The field shows what the address says, also after a step back.
  useEffect(() => {
    if (field.current !== null) field.current.value = value;
  }, [value]);
  const take = (): void => {
    const typed = field.current?.value ?? '';
    if (typed.trim() !== value) onSet(typed);
  };
  const input = (
    <input
      ref={field}
      class={value === '' ? '' : 'set'}
      type="text"
      aria-label={label}
      placeholder={label}
      data-filter={isFirst ? 'first' : undefined}
      maxLength={128}
      spellcheck={false}
      autocomplete="off"
      defaultValue={value}
      onChange={take}
      onKeyDown={({ key }) => key === 'Enter' && take()}
      list={suggest && listId}
      onFocus={() => suggest !== undefined && void readSuggestions()}
    />
  );
  if (suggest === undefined) return input;
  return (
    <>
      {input}
      <datalist id={listId}>
        {suggestionsOf(suggest, query['tenantId'] ?? '').map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </>
  );
}

interface ChoiceProps extends FieldProps {
  readonly values: readonly (readonly [value: string, words: string])[];
  /** The label for choosing nothing. */
  readonly none?: string;
}

export function Choice({ label, value, values, none = `${label}: any`, onSet }: ChoiceProps) {
  const isKnown = value === '' || values.some(([each]) => each === value);
  return (
    <select
      class={value === '' ? '' : 'set'}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onSet(currentTarget.value)}
    >
      <option value="">{none}</option>
      {values.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
      {!isKnown && <option value={value}>{value}</option>}
    </select>
  );
}

/** A choice that is kept in the page's address under a name. */
export function AddressChoice({ name, ...choice }: Pick<ChoiceProps, 'label' | 'values'> & { readonly name: string }) {
  const { path, query, route } = useLocation();
  const set = (value: string): void => route(path + queryText({ ...query, [name]: value }));
  return <Choice {...choice} value={query[name] ?? ''} onSet={set} />;
}

/** A choice of one out of a few that are all visible. */
export function Chips({ label, value, values, onSet }: Omit<ChoiceProps, 'none'>) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {values.map(([each, words]) => (
        <button key={each} type="button" class="chip" aria-pressed={value === each} onClick={() => onSet(each)}>
          {words}
        </button>
      ))}
    </div>
  );
}
