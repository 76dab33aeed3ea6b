import { setTimeout as delay } from 'node:timers/promises';
import type { TestSmtp } from '../../support/smtp.ts';

const PATIENCE_MS = 5000;

/** Finds login codes in the mail that arrived. Every address gets one. */
export class Mailbox {
  readonly #smtp: TestSmtp;
  readonly #codes = new Map<string, string>();
  #read = 0;

  constructor(smtp: TestSmtp) {
    this.#smtp = smtp;
  }

  /** @returns undefined when no mail arrives within five seconds */
  async codeFor(email: string): Promise<string | undefined> {
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; await delay(50)) {
      this.#readOn();
      const code = this.#codes.get(email);
      if (code !== undefined) return code;
    }
    return undefined;
  }

  #readOn(): void {
    for (; this.#read < this.#smtp.mails.length; this.#read += 1) {
      const mail = this.#smtp.mails[this.#read];
      const code = /\b\d{6}\b/.exec(mail?.parsed.text ?? '')?.[0];
      const to = mail?.envelope.to[0];
      if (code !== undefined && to !== undefined) this.#codes.set(to, code);
    }
  }
}
