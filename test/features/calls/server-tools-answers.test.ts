import { beforeEach, describe, expect, test, vi } from 'vitest';
import { soon } from '../../support/soon.ts';
import { done, node, started, world } from './calls-world.ts';
import {
  ANSWER,
  answered,
  ask,
  outputs,
  records,
  responses,
  saved,
  server,
  takeOver,
  told,
  useToolServer,
  useTools,
} from './tool-calls.ts';

describe('Answers of tools of the server', () => {
  useToolServer();

  describe('whose sideband breaks during their answer', () => {
    /** Breaks the sideband. @returns a function that lists what the next sideband has been asked */
    async function breaks() {
      const before = world.sideband;
      before.close();
      await vi.waitFor(async () => {
        await world.pass(250);
        expect(world.sideband).not.toBe(before);
      }, soon);
      await world.pass(250);
      return () => world.sideband.asked.map((each) => ('callId' in each ? each.callId : each.type));
    }

    test('send it again under the same id, and have the agent go on only if the conversation did not have it', async () => {
      await world.open(node);
      ask('resp_1', 'call_1', 'call_2');
      await told(2);
      const asked = await breaks();
      expect(asked()).toEqual(['call_1', 'call_2']);
      expect(outputs()).toMatchObject([{ id: 'sb_call_1', output: ANSWER }, { id: 'sb_call_2' }]);
      world.hear(answered('call_1'));
      expect(asked()).toEqual(['call_1', 'call_2']);
      world.hear(answered('call_2'), answered('call_2'));
      expect(asked()).toEqual(['call_1', 'call_2', 'respond']);
      world.hear(started('resp_2'), done('resp_2'));
      expect((await breaks())()).toEqual([]);
      expect(await records()).toMatchObject([{ state: 'answered' }, { state: 'answered' }]);
      expect(server.requests).toHaveLength(2);
    });

    test('send nothing again that the conversation has, and the agent is not asked to say it twice', async () => {
      await world.open(node);
      ask('resp_1', 'call_1', 'call_2');
      await told(2);
      world.hear(answered('call_1'), answered('call_2'));
      expect((await breaks())()).toEqual([]);
    });

    test('have the agent go on once if it was still to finish speaking', async () => {
      await world.open(node);
      ask('resp_1', 'call_1');
      world.hear(started('resp_2'));
      await told();
      expect(responses()).toBe(0);
      world.sideband.answerCancel = () => undefined;
      const asked = await breaks();
      world.hear(done('resp_2'));
      world.hear(answered('call_1'));
      world.hear(started('resp_3'), done('resp_3'));
      expect(asked()).toEqual(['call_1', 'respond']);
    });
  });

  describe('beside a tool of a page with a data channel, which answers it there', () => {
    beforeEach(async () => {
      useTools({}, 'open');
      await world.open(node);
      ask('resp_1', 'call_1', { callId: 'call_2', name: 'show' });
      expect(await told()).toEqual([ANSWER]);
      expect(outputs()).toMatchObject([{ callId: 'call_1' }]);
    });

    /** The conversation takes our answer. */
    const takesOurs = (): void => world.hear(answered('call_1', outputs()[0]?.id));
    /** The conversation takes the page's answer to a tool of its own. */
    const takesOfPage = (callId = 'call_2'): void => world.hear(answered(callId, 'item_page'));

    test('have the agent go on if the conversation took their answer last', () => {
      takesOfPage();
      expect(responses()).toBe(0);
      takesOurs();
      expect(responses()).toBe(1);
    });

    test('leave that to the page if its answer was taken last, and a forged one changes nothing', async () => {
      world.hear(answered('call_1', 'item_forged'));
      takesOurs();
      takesOfPage();
      await world.pass(31_000);
      expect(responses()).toBe(0);
    });

    test('have the agent go on after half a minute if the page does not answer', async () => {
      takesOurs();
      await world.pass(29_000);
      expect(responses()).toBe(0);
      await world.pass(1000);
      expect(responses()).toBe(1);
    });

    test('have the agent go on when their node hands the call over', async () => {
      takesOurs();
      await world.addNode();
      const { sideband } = world.provider;
      await node.stop();
      expect(sideband.asked.filter(({ type }) => type === 'respond')).toHaveLength(1);
    });

    test('have the agent go on at once if the page had answered before', async () => {
      takesOfPage('call_4');
      ask('resp_2', { callId: 'call_3' }, { callId: 'call_4', name: 'show' });
      await told(2);
      expect(responses()).toBe(1);
    });
  });

  describe('of a page with a data channel', () => {
    const removed = (): unknown[] => world.askedFor('delete');
    const forge = (item: string, callId: string, isDenial = false): void =>
      world.hear(answered(callId, item, isDenial));

    beforeEach(async () => {
      useTools({}, 'open');
      await world.open(node);
    });

    test('are answered under an id that the page cannot guess, and any other answer is removed and counted', async () => {
      ask('resp_1', 'call_1');
      await told();
      const [{ id = '' } = {}] = outputs();
      expect(id).toMatch(/^sb_[\w-]{29}$/);
      expect(id).not.toContain('call_1');
      forge(id, 'call_1');
      expect(removed()).toEqual([]);
      forge('item_page', 'call_1');
      expect(removed()).toEqual([{ type: 'delete', id: 'item_page' }]);
      expect(await world.metrics.registry.metrics()).toContain('switchboard_tool_answers_forged_total 1');
    });

    test('are not answered by a page that is faster than the end of the response', async () => {
      forge('item_early', 'call_1');
      expect(removed()).toEqual([]);
      ask('resp_1', 'call_1');
      expect(removed()).toEqual([{ type: 'delete', id: 'item_early' }]);
    });

    test('may be denied by the page’s SDK once per call, which is removed and does not count as forgery', async () => {
      const calls = ['call_1', 'call_2', 'call_3', 'call_4'];
      ask('resp_1', ...calls);
      await told(4);
      for (const callId of calls) forge(`item_${callId}`, callId, true);
      await world.pass(1250);
      expect(removed()).toHaveLength(4);
      expect(await world.call()).toMatchObject({ state: 'open' });
      for (const callId of calls) forge(`item_${callId}_again`, callId, true);
      await world.pass(1250);
      expect(await world.call()).toMatchObject({ closeReason: 'tool_forged' });
    });

    test('keep their answers: the third forged or removed answer closes the call and ends its session', async () => {
      ask('resp_1', 'call_1');
      await told();
      const [{ id = '' } = {}] = outputs();
      forge('item_1', 'call_1');
      world.hear({ type: 'itemRemoved', item: 'item_1' }, { type: 'itemRemoved', item: id });
      await world.look();
      expect(await world.call()).toMatchObject({ state: 'open' });
      forge('item_2', 'call_1');
      await world.pass(1250);
      expect(await world.call()).toMatchObject({ closeReason: 'tool_forged' });
      expect(world.endReason).toBe('upstream_ended');
    });

    test('are not answered by an item under the id of ours after the page removed that', async () => {
      ask('resp_1', 'call_1');
      await told();
      const [{ id = '' } = {}] = outputs();
      world.hear({ type: 'itemRemoved', item: id });
      forge(id, 'call_1');
      expect(removed()).toEqual([{ type: 'delete', id }]);
    });

    test('are not confused by many answers that nobody asked for', async () => {
      for (let n = 0; n < 67; n += 1) forge(`item_${n}`, `call_of_nobody_${n}`);
      await world.pass(1250);
      expect(await world.call()).toMatchObject({ closeReason: 'tool_forged' });
    });

    test('cannot be answered by a page after another node took the call, whether they ran or were answered', async () => {
      ask('resp_1', 'call_1');
      await told();
      await saved('answered');
      server.mode = 'hang';
      ask('resp_2', 'call_2');
      await vi.waitFor(() => expect(server.requests).toHaveLength(2), soon);
      await takeOver();
      forge('item_1', 'call_1');
      forge('item_2', 'call_2');
      expect(removed()).toEqual([
        { type: 'delete', id: 'item_1' },
        { type: 'delete', id: 'item_2' },
      ]);
      for (const { id = '', callId } of outputs()) forge(id, callId);
      expect(removed()).toHaveLength(2);
    });

    test('do not affect answers to the page’s own tools', async () => {
      ask('resp_1', { callId: 'call_1', name: 'show' });
      for (let n = 0; n < 100; n += 1) forge(`item_${n}`, 'call_1');
      await world.pass(1250);
      expect(removed()).toEqual([]);
      expect(await world.call()).toMatchObject({ state: 'open' });
    });
  });
});
