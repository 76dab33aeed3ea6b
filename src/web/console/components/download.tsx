import { queryText } from '../data/query.ts';
import { useSignal } from '@preact/signals';
import { csvLine } from '../../../protocol/csv.ts';
import { wordsOf } from './view-states.tsx';
import type { Failure } from '../data/api.ts';
import { maskAddresses } from '../labels/format.ts';

interface DownloadProps {
  readonly what: 'sessions' | 'usage';
  /** What the files contain, shown before their links. */
  readonly words: string;
  /** The filters of the export, evaluated when a link is followed: `-1h` is an hour before that. */
  readonly filters: () => Readonly<Record<string, string | undefined>>;
}

/** Links to files with everything of which a page shows a part. */
export function Download({ what, words, filters }: DownloadProps) {
  const addressOf = (format: string): string => `/api/operator/export/${what}${queryText({ ...filters(), format })}`;
  return (
    <p class="soft download">
      {words}:{' '}
      {['csv', 'ndjson'].map((format) => (
        <>
          <a
            href={addressOf(format)}
            download
            onClick={({ currentTarget }) => currentTarget.setAttribute('href', addressOf(format))}
          >
            {format.toUpperCase()}
          </a>{' '}
        </>
      ))}
    </p>
  );
}

/** The most rows in a file, because each page of them is a request. */
const MAX_ROWS = 5000;
const READING = 'Reading…';

interface RowsProps<R> {
  /** Part of the file's name. */
  readonly what: string;
  readonly list: { readAll(most: number): Promise<readonly R[] | Failure> };
  /** The fields of the rows to include, as the API names them. */
  readonly columns: readonly (keyof R & string)[];
}

/** Offers a file of everything that the filter finds, up to a limit. It is read page by page on request, and contains no whole address. */
export function DownloadRows<R extends object>({ what, list, columns }: RowsProps<R>) {
  const words = useSignal('');
  const read = async (): Promise<void> => {
    if (words.peek() === READING) return;
    words.value = READING;
    const found = await list.readAll(MAX_ROWS);
    if (!('length' in found)) {
      words.value = wordsOf(found);
      return;
    }
    const lines = found.map((row) => maskAddresses(csvLine(row as Readonly<Record<string, string>>, columns)));
    save(`switchboard-${what}-${new Date().toISOString().slice(0, 10)}.csv`, [`${columns.join(',')}\r\n`, ...lines]);
    words.value =
      found.length < MAX_ROWS ? '' : `These are the newest ${MAX_ROWS}: choose a shorter time for the others.`;
  };
  return (
    <p class="soft download">
      Download all that the filter finds:{' '}
      <button type="button" class="link" onClick={() => void read()}>
        CSV
      </button>{' '}
      <span role="status">{words}</span>
    </p>
  );
}

function save(name: string, parts: string[]): void {
  const href = URL.createObjectURL(new Blob(parts, { type: 'text/csv;charset=utf-8' }));
  Object.assign(document.createElement('a'), { href, download: name }).click();
  URL.revokeObjectURL(href);
}
