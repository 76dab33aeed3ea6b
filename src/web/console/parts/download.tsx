import { queryText } from '../data/query.ts';

interface DownloadProps {
  readonly what: 'sessions' | 'usage';
  /** What is in the files, as the words before their links. */
  readonly words: string;
  /** The filters of the export, asked when a link is followed: `-1h` is an hour before that. */
  readonly filters: () => Readonly<Record<string, string | undefined>>;
}

/** Links to all that a page shows a part of, as files. */
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
