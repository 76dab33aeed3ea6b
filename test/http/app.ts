import { SERVICE_TOKEN, type Reply, type TestApp } from '../support/app.ts';

/** The headers with which a client opens the heartbeat channel. */
export const upgrade = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'sec-websocket-protocol': 'switchboard.v1',
};

/** The status and code of an error, after checking that it has what every error has, and nothing that it must not. */
export function errorOf(reply: Reply): { readonly status: number; readonly code: unknown } {
  const { error, code, userMessage } = reply.body;
  for (const text of [error, code, userMessage])
    if (typeof text !== 'string' || text === '') throw new Error(`not an error body: ${reply.text}`);
  return { status: reply.status, code };
}

/** Why a request was refused, in the words that operators read. */
export async function whyRefused(app: TestApp, { headers }: Reply): Promise<string | undefined> {
  await app.service.journalWriter.flush();
  const { body } = await app.get(`/api/operator/refusals?requestId=${headers['x-request-id']}`, {
    authorization: `Bearer ${SERVICE_TOKEN}`,
  });
  return (body['refusal'] as { readonly sentence: string } | undefined)?.sentence;
}
