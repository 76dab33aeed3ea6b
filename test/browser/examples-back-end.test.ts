import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { endServer, freePort } from '../support/services/server-process.ts';
import { backEnds, startBackEnd } from './examples-back-end.ts';

const skipped = reasonToSkip(() => findBinary('python3', 'python3'));

/** The headers by which a production server judges: docs/contract.md, section 4.2. */
test.skipIf(skipped !== undefined).each(backEnds)(
  'The back end in %s creates sessions with its pages’ origin and the headers that tell a visitor from a bot',
  async (_what, program, file) => {
    let heard: IncomingHttpHeaders = {};
    const switchboard = createServer(({ headers }, response) => {
      heard = headers;
      response.end(JSON.stringify({ sm_session_id: 's' }));
    }).listen(0, 'localhost');
    await once(switchboard, 'listening');
    const address = `http://localhost:${(switchboard.address() as AddressInfo).port}`;
    const { child, origin } = await startBackEnd(program, file, await freePort(), address, 'w_x');
    const visitor = { 'user-agent': 'Mozilla/5.0 (of the visitor)', 'accept-language': 'de-AT' };
    expect((await fetch(`${origin}/voice/session`, { method: 'POST', headers: visitor })).status).toBe(200);
    expect(heard).toMatchObject({ origin, ...visitor });
    await endServer(child, 'SIGKILL');
    switchboard.closeAllConnections();
    switchboard.close();
  },
);
