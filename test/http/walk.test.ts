import { afterEach, describe, expect, test } from 'vitest';
import { useApps } from '../support/use-apps.ts';
import { closeServers, serve } from '../support/transport-server.ts';
import { filesEntered } from '../support/walk.ts';

const { build } = useApps();
afterEach(closeServers);

/** Of the whole product, from the first byte to the last. A change that needs one more says why; one that spares some lowers this. */
const MOST_FILES = 32;

describe('An ordinary heartbeat of a widget to an embedded service', () => {
  /** A session over a real port; @returns how to beat once, and what the pipeline answered. */
  async function start() {
    const app = await build();
    const key = await app.key();
    const sm_session_id = await app.open(key);
    const answers: unknown[] = [];
    const { port } = await serve((request) => {
      const answer = app.service.handle(request);
      answers.push(answer);
      return answer;
    });
    const beat = async (): Promise<void> => {
      const { status } = await fetch(`http://127.0.0.1:${port}/api/realtime/heartbeat`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', origin: key.origin },
        body: JSON.stringify({ sm_session_id, idleSec: 0 }),
      });
      expect(status).toBe(200);
    };
    return { answers, beat };
  }

  test(`walks through at most ${MOST_FILES} files`, async () => {
    const { beat } = await start();
    // What is done once is no part of the walk.
    await beat();
    const entered = [...(await filesEntered(beat)).keys()].toSorted();
    expect(entered).toEqual(
      expect.arrayContaining(['src/http/pipeline.ts', 'src/http/routes/heartbeat.ts', 'src/transport/reply.ts']),
    );
    expect(entered.length, entered.join('\n')).toBeLessThanOrEqual(MOST_FILES);
  });

  test('is answered without a promise', async () => {
    const { answers, beat } = await start();
    await beat();
    expect(answers).toEqual([expect.objectContaining({ status: 200 })]);
  });
});
