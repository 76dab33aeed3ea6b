import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { MailServer } from './variables.ts';

export interface Envelope {
  readonly from: string;
  readonly to: string;
}

const CONNECT_MS = 4_000;
const IDLE_MS = 30_000;
const QUIT_MS = 1_000;

type Done = (error?: Error | null) => void;

/**
 * One connection to the mail server. Every step ends when the server answers, the connection breaks or the signal aborts; the
 * library's own callbacks are never called when a connection dies between two commands.
 */
export class SmtpConnection {
  readonly #connection: SMTPConnection;

  private constructor(connection: SMTPConnection) {
    this.#connection = connection;
    // Without a listener, an error on an idle connection would end the process.
    this.#connection.on('error', () => {});
  }

  /** Connects, greets, secures and logs in. */
  static async open(settings: MailServer, signal: AbortSignal): Promise<SmtpConnection> {
    // Imported with the first mail, so that starting the service does not wait for it.
    const { default: Connection } = await import('nodemailer/lib/smtp-connection');
    const made = new SmtpConnection(
      new Connection({
        host: settings.host,
        port: settings.port,
        secure: settings.implicitTls,
        requireTLS: settings.verifyTls && !settings.implicitTls,
        tls: { rejectUnauthorized: settings.verifyTls },
        connectionTimeout: CONNECT_MS,
        greetingTimeout: CONNECT_MS,
        dnsTimeout: CONNECT_MS,
        // Closes a connection that was idle for this long, since servers hang up after minutes; a stalled step is aborted well before.
        socketTimeout: IDLE_MS,
        socketCloseTimeout: 0,
      }),
    );
    await made.#step(signal, (done) => made.#connection.connect(done));
    const { credentials } = settings;
    if (credentials && made.#connection.allowsAuth) {
      await made.#step(signal, (done) => made.#connection.login({ user: credentials.user, credentials }, done));
    }
    return made;
  }

  get usable(): boolean {
    return !this.#connection.destroyed;
  }

  /** One round trip that changes nothing (RSET), to learn whether the server still answers. */
  async check(signal: AbortSignal): Promise<void> {
    await this.#step(signal, (done) => this.#connection.reset(done));
  }

  /** Resolves when the server has accepted the message. */
  async deliver(envelope: Envelope, message: Buffer, signal: AbortSignal): Promise<void> {
    await this.#step(signal, (done) => this.#connection.send({ ...envelope }, message, done));
  }

  /** Sends QUIT; closes the connection if the server does not answer within a second. */
  quit(): void {
    if (!this.usable) return;
    this.#connection.quit();
    setTimeout(() => this.#connection.close(), QUIT_MS).unref();
  }

  destroy(): void {
    this.#connection.close();
  }

  #step(signal: AbortSignal, start: (done: Done) => void): Promise<void> {
    const connection = this.#connection;
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const done: Done = (error) => {
        connection.off('error', done);
        connection.off('end', onEnd);
        signal.removeEventListener('abort', onAbort);
        if (error) reject(error);
        else resolve();
      };
      const onEnd = () => done(new Error('the mail server closed the connection'));
      const onAbort = () => {
        done(new Error('the mail server did not answer in time'));
        connection.close();
      };
      connection.once('error', done);
      connection.once('end', onEnd);
      signal.addEventListener('abort', onAbort);
      start(done);
    });
  }
}
