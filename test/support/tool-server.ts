import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeServer, listen, portOf } from './http-server.ts';

export type ToolServerMode =
  | {
      readonly status?: number;
      readonly type?: string;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string | Buffer;
    }
  | 'hang'
  | 'reset'
  | 'endless'
  | 'redirect';

export interface ToolRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** A certificate for `localhost` and `tools.test` from an authority of its own, made anew for each run. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  try {
    const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const names = ['-subj', '/CN=tools.test', '-addext', 'subjectAltName=DNS:localhost,DNS:tools.test'];
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile];
    execFileSync('openssl', ['req', '-x509', ...key, '-out', certFile, '-days', '2', ...names], { stdio: 'ignore' });
    return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The server of a tenant's tool on a free port: it answers or fails as a test wants. */
export class ToolServer {
  mode: ToolServerMode = { body: '{"ok":true}' };
  /** The target of `redirect`. */
  location = '';
  readonly requests: ToolRequest[] = [];
  #connections = 0;
  readonly #server: Server;

  private constructor(certificate: Certificate | undefined) {
    const serve: RequestListener = (request, response) => void this.#serve(request, response);
    this.#server = certificate === undefined ? createServer(serve) : createTlsServer(certificate, serve);
    this.#server.on('connection', () => (this.#connections += 1));
  }

  static async start(certificate?: Certificate): Promise<ToolServer> {
    const tools = new ToolServer(certificate);
    await listen(tools.#server);
    return tools;
  }

  get port(): number {
    return portOf(this.#server);
  }

  /** How many connections were made to the server so far. */
  get connections(): number {
    return this.#connections;
  }

  close(): Promise<void> {
    return closeServer(this.#server);
  }

  async #serve(...[request, response]: Parameters<RequestListener>): Promise<void> {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += String(chunk);
    const { method, url, headers } = request;
    this.requests.push({ method, url, headers, body });
    const { mode } = this;
    if (typeof mode === 'object')
      return void response
        .writeHead(mode.status ?? 200, { 'content-type': mode.type ?? 'application/json', ...mode.headers })
        .end(mode.body);
    switch (mode) {
      case 'hang':
        return;
      case 'reset':
        return void request.socket.resetAndDestroy();
      case 'redirect':
        return void response.writeHead(307, { location: this.location }).end();
      case 'endless':
        response.on('drain', () => response.write(Buffer.alloc(65_536)));
        return void response.writeHead(200).write(Buffer.alloc(65_536));
    }
  }
}
