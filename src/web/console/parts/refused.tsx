import type { Failure } from '../data/api.ts';

export function wordsOf(failure: Failure): string {
  if (failure.kind === 'refused') return failure.message;
  if (failure.kind === 'login') return 'Your login is over.';
  return failure.kind === 'missing' ? 'There is no such thing any more.' : 'The service did not answer.';
}

/** In a dialog: why it was refused, and which field is wrong. */
export function Refused({ failure }: { readonly failure: Failure | undefined }) {
  if (failure === undefined) return null;
  const details = failure.kind === 'refused' ? failure.details : [];
  return (
    <div class="problem" role="alert">
      <p>{wordsOf(failure)}</p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message }) => (
            <li key={path}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
