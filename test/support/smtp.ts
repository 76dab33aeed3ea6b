import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import PostalMime from 'postal-mime';
import type { Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import type { SMTPServerOptions } from 'smtp-server';

export type SmtpMode =
  | 'ok'
  | 'refuse auth'
  | 'reject recipient'
  | 'deny relay'
  | 'freeze greeting'
  | 'freeze data'
  | 'drop';

export interface ReceivedMail {
  readonly envelope: { readonly from: string; readonly to: readonly string[] };
  readonly raw: string;
  readonly parsed: Email;
}

export interface SmtpOptions {
  /** TLS from the first byte, with a certificate that no authority signed. */
  readonly implicitTls?: boolean;
  /** Offer STARTTLS, with the same certificate. */
  readonly startTls?: boolean;
  /** Require this login. */
  readonly credentials?: { readonly user: string; readonly pass: string };
  readonly port?: number;
}

/** A real SMTP server on a free port that can misbehave. */
export class TestSmtp {
  mode: SmtpMode = 'ok';
  /** Called each time the server freezes in the middle of a step. */
  onFreeze: () => void = () => {};
  /** Milliseconds for which the server scans a message before it accepts it. */
  scanMs = 0;
  /** Connections accepted so far. */
  connections = 0;
  /** User names and passwords that clients sent. */
  readonly logins: { user: string; pass: string; encrypted: boolean }[] = [];
  readonly mails: ReceivedMail[] = [];
  readonly #server: SMTPServer;
  readonly #encrypts: boolean;
  readonly #sockets = new Set<Socket>();
  readonly #waiting: ((mail: ReceivedMail) => void)[] = [];
  #read = 0;

  private constructor(options: SmtpOptions) {
    this.#encrypts = (options.implicitTls ?? false) || (options.startTls ?? false);
    this.#server = new SMTPServer(this.#serverOptions(options));
    // These tests are about connections that are cut in the middle, so errors are expected.
    this.#server.on('error', () => {});
    const { server } = this.#server;
    server.prependListener('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
      if (this.mode === 'drop') socket.destroy();
    });
  }

  static async start(options: SmtpOptions = {}): Promise<TestSmtp> {
    const smtp = new TestSmtp(options);
    const { server } = smtp.#server;
    smtp.#server.listen(options.port ?? 0, '127.0.0.1');
    await once(server, 'listening');
    return smtp;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** The next mail that no call has returned yet, in order of arrival. */
  async nextMail(): Promise<ReceivedMail> {
    const mail = this.mails[this.#read];
    this.#read += 1;
    return mail ?? (await new Promise((resolve) => this.#waiting.push(resolve)));
  }

  /** Breaks existing connections without a word. */
  dropConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Keeps existing connections open but never again reads from them. */
  freezeConnections(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  async close(): Promise<void> {
    // Cutting the socket during a TLS handshake crashes Node 20 (a segmentation fault in this server's own process).
    if (!this.#encrypts) this.dropConnections();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #serverOptions({ implicitTls = false, startTls = false, credentials }: SmtpOptions): SMTPServerOptions {
    return {
      secure: implicitTls,
      disabledCommands: [...(startTls ? [] : ['STARTTLS']), ...(credentials ? [] : ['AUTH'])],
      allowInsecureAuth: true,
      disableReverseLookup: true,
      closeTimeout: 200,
      hideENHANCEDSTATUSCODES: true,
      onConnect: (_session, callback) => {
        if (this.mode === 'freeze greeting') this.onFreeze();
        else callback();
      },
      onAuth: ({ username, password }, { secure }, callback) => {
        this.logins.push({ user: username ?? '', pass: password ?? '', encrypted: secure });
        const right = this.mode !== 'refuse auth' && username === credentials?.user && password === credentials?.pass;
        if (right) callback(null, { user: username });
        else callback(Object.assign(new Error('5.7.8 authentication failed'), { responseCode: 535 }));
      },
      onRcptTo: (_address, _session, callback) => {
        if (this.mode === 'reject recipient') callback(refusal('5.1.1 no such mailbox'));
        else if (this.mode === 'deny relay') callback(refusal('5.7.1 relaying denied'));
        else callback();
      },
      onData: (stream, { envelope }, callback) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (this.mode === 'freeze data') return this.onFreeze();
          const from = envelope.mailFrom ? envelope.mailFrom.address : '';
          const to = envelope.rcptTo.map(({ address }) => address);
          setTimeout(() => {
            void this.#take({ from, to }, Buffer.concat(chunks), callback);
          }, this.scanMs);
        });
      },
    };
  }

  async #take(envelope: ReceivedMail['envelope'], raw: Buffer, taken: () => void): Promise<void> {
    const mail = { envelope, raw: raw.toString('utf8'), parsed: await PostalMime.parse(raw) };
    this.mails.push(mail);
    this.#waiting.shift()?.(mail);
    taken();
  }
}

function refusal(message: string): Error {
  return Object.assign(new Error(message), { responseCode: 550 });
}
