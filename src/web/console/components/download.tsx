import { queryText } from '../data/query.ts';

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
