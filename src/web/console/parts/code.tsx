import { Fragment } from 'preact';
import { codeWords } from '../words/codes.ts';

/** A code of an error, which a narrow place breaks between its words. */
export function Code({ code }: { readonly code: string }) {
  return (
    <code title={codeWords(code)}>
      {code.split('_').map((word, index) => (
        <Fragment key={`${index} ${word}`}>
          {index > 0 && (
            <>
              _<wbr />
            </>
          )}
          {word}
        </Fragment>
      ))}
    </code>
  );
}
