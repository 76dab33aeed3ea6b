import { randomBytes } from 'node:crypto';

export interface Part {
  readonly name: string;
  readonly type: string;
  readonly text: string;
}

/** A form of text parts that each state their type and are not files, which `FormData` cannot express. */
export function multipart(parts: readonly Part[]): { readonly type: string; readonly body: string } {
  const boundary = `form-${randomBytes(18).toString('hex')}`;
  const written = parts.map(
    ({ name, type, text }) =>
      `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\ncontent-type: ${type}\r\n\r\n${text}\r\n`,
  );
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${written.join('')}--${boundary}--\r\n` };
}
