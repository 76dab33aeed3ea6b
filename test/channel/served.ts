import { afterEach } from 'vitest';
import { socketsOf } from '../../src/app/serve.ts';
import { framingRefusal, plainReply } from '../../src/http/refusals.ts';
import { listen, type Transport } from '../../src/transport/server.ts';
import type { TestApp, TestAppOptions } from '../support/app.ts';
import { useApps } from '../support/use-apps.ts';

export interface Served {
  readonly app: TestApp;
  readonly port: number;
  readonly transport: Transport;
  readonly faults: unknown[];
}

/** Serves the whole service on a port, with a clock that the test moves; what a test starts ends with the test. */
export function useServed(): (options?: Omit<TestAppOptions, 'database'>) => Promise<Served> {
  const { build } = useApps();
  const transports = new Set<Transport>();

  afterEach(async () => {
    await Promise.all([...transports].map((transport) => transport.close(0)));
    transports.clear();
  });

  return async (options = {}) => {
    const app = await build(options);
    const faults: unknown[] = [];
    const transport = await listen({
      host: '127.0.0.1',
      port: 0,
      replyDeadlineMs: 5000,
      clock: app.clock,
      handle: app.service.handle,
      rejectMalformed: ({ requestId }) => plainReply(framingRefusal(), requestId, false),
      onFault(error) {
        faults.push(error);
        return { status: 500, headers: [], body: '' };
      },
      sockets: socketsOf(app.service),
    });
    transports.add(transport);
    return { app, port: transport.port, transport, faults };
  };
}
