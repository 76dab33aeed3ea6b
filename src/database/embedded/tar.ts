import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const BLOCK = 512;
const DIRECTORY = '5';

/**
 * Unpacks a tar archive of plain files and directories (what PGlite's dumpDataDir writes) into `target`, for its owner only; no entry can
 * leave `target`. The archive comes in chunks and is never held as a whole: it has 40 MB, and a process that once took as much
 * memory is slow to give it back.
 */
export async function unpackTar(
  archive: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  target: string,
): Promise<void> {
  const unpacker = new Unpacker(target);
  try {
    for await (const chunk of archive) {
      unpacker.write(chunk);
    }
  } finally {
    unpacker.close();
  }
}

class Unpacker {
  readonly #target: string;
  readonly #header = Buffer.alloc(BLOCK);
  /** Bytes of the header that are here. */
  #filled = 0;
  #file: number | undefined;
  /** Bytes of the entry's content, and of the padding after it, that are still to come. */
  #content = 0;
  #padding = 0;

  constructor(target: string) {
    this.#target = target;
  }

  write(chunk: Uint8Array): void {
    let rest = chunk;
    while (rest.length > 0) {
      rest = rest.subarray(
        this.#content > 0 ? this.#writeContent(rest) : this.#padding > 0 ? this.#skip(rest) : this.#fill(rest),
      );
    }
  }

  close(): void {
    if (this.#file !== undefined) {
      closeSync(this.#file);
    }
    this.#file = undefined;
  }

  #writeContent(bytes: Uint8Array): number {
    const part = bytes.subarray(0, this.#content);
    const written = this.#file === undefined ? part.length : writeSync(this.#file, part);
    this.#content -= written;
    if (this.#content === 0) {
      this.close();
    }
    return written;
  }

  #skip(bytes: Uint8Array): number {
    const skipped = Math.min(bytes.length, this.#padding);
    this.#padding -= skipped;
    return skipped;
  }

  #fill(bytes: Uint8Array): number {
    const part = bytes.subarray(0, BLOCK - this.#filled);
    this.#header.set(part, this.#filled);
    this.#filled += part.length;
    if (this.#filled === BLOCK) {
      this.#filled = 0;
      this.#open();
    }
    return part.length;
  }

  #open(): void {
    const header = this.#header;
    if (header[0] === 0) {
      return;
    }
    const path = join(this.#target, normalize(join('/', text(header, 345, 155), text(header, 0, 100))));
    this.#content = parseInt(text(header, 124, 12), 8) || 0;
    this.#padding = (BLOCK - (this.#content % BLOCK)) % BLOCK;
    if (text(header, 156, 1) === DIRECTORY) {
      mkdirSync(path, { recursive: true, mode: 0o700 });
      return;
    }
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    this.#file = openSync(path, 'w', 0o600);
    if (this.#content === 0) {
      this.close();
    }
  }
}

function text(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end === -1 ? length : end).trim();
}
