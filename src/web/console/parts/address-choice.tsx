import { useLocation } from 'preact-iso';

interface Props {
  readonly label: string;
  /** Of the parameter in the address of the page. */
  readonly name: string;
  readonly values: readonly (readonly [value: string, words: string])[];
}

/** A choice that the address of the page keeps. */
export function AddressChoice({ label, name, values }: Props) {
  const { path, query, route } = useLocation();
  const value = query[name] ?? '';
  return (
    <select
      class={value === '' ? '' : 'set'}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => route(addressOf(path, { ...query, [name]: currentTarget.value }))}
    >
      <option value="">{label}: any</option>
      {values.map(([each, words]) => (
        <option key={each} value={each}>
          {words}
        </option>
      ))}
      {value !== '' && values.every(([each]) => each !== value) && <option value={value}>{value}</option>}
    </select>
  );
}

/** A page with what is chosen on it. */
export function addressOf(path: string, query: Readonly<Record<string, string>>): string {
  const chosen = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''));
  return chosen.size === 0 ? path : `${path}?${chosen}`;
}
