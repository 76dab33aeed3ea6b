import type { MailServer } from '../../config/mail-settings.ts';
import { Line } from './line.ts';

/** At once; a mail server counts connections, and a flood of sends must not become a flood of connections. */
const maxLines = 5;
/** A line that was not used for so long is closed; servers hang up after minutes. */
const idleMs = 30_000;
/** A line on which nothing is heard for so long after a question is dead, and another is opened. */
const staleMs = 1_000;

/**
 * Keeps a few lines to the mail server open between mails. This is nodemailer's pool redone around one need that it cannot meet:
 * to go exactly as far as a send would and stop there, so that mails that leave and mails that do not share every step up to the
 * envelope.
 */
export class SmtpLines {
  readonly #settings: MailServer;
  readonly #idle: { line: Line; timer: NodeJS.Timeout }[] = [];
  readonly #waiting: (() => void)[] = [];
  #busy = 0;
  #closed = false;

  constructor(settings: MailServer) {
    this.#settings = settings;
  }

  /**
   * A line that has just answered; it must be given back. Waits while all are taken.
   * @throws what the server or the network threw, or on abort
   */
  async take(signal: AbortSignal): Promise<Line> {
    await this.#takeTurn(signal);
    try {
      return await this.#acquire(signal);
    } catch (error) {
      this.#passTurn();
      throw error;
    }
  }

  /** Gives a line back, for the next to use unless it is broken. */
  give(line: Line): void {
    this.#keep(line);
    this.#passTurn();
  }

  close(): void {
    this.#closed = true;
    this.#takeIdle().forEach((line) => line.quit());
  }

  async #acquire(signal: AbortSignal): Promise<Line> {
    if (this.#closed) throw new Error('mail is closed');
    const kept = this.#idle.pop();
    if (kept) {
      clearTimeout(kept.timer);
      if (kept.line.usable && (await stillAnswers(kept.line, signal))) return kept.line;
      // What silenced one line (a restart, a firewall that forgot) has most likely silenced all.
      this.#takeIdle().forEach((line) => line.destroy());
    }
    return await Line.open(this.#settings, signal);
  }

  #keep(line: Line): void {
    if (this.#closed || !line.usable) return line.quit();
    const timer = setTimeout(() => {
      this.#idle.splice(
        this.#idle.findIndex((kept) => kept.line === line),
        1,
      );
      line.quit();
    }, idleMs);
    this.#idle.push({ line, timer: timer.unref() });
  }

  #takeIdle(): Line[] {
    return this.#idle.splice(0).map(({ line, timer }) => {
      clearTimeout(timer);
      return line;
    });
  }

  async #takeTurn(signal: AbortSignal): Promise<void> {
    if (this.#busy < maxLines) {
      this.#busy += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(new Error('all lines to the mail server were busy for too long'));
      };
      const go = () => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(go);
    });
  }

  /** A turn goes from hand to hand: `#busy` falls only when nobody waits. */
  #passTurn(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#busy -= 1;
  }
}

async function stillAnswers(line: Line, signal: AbortSignal): Promise<boolean> {
  const patience = setTimeout(() => line.destroy(), staleMs);
  try {
    await line.check(signal);
    return true;
  } catch {
    line.destroy();
    signal.throwIfAborted();
    return false;
  } finally {
    clearTimeout(patience);
  }
}
