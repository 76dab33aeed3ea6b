import type { World } from '../../support/world.ts';
import { forgeTools, replayAll } from './forgeries.ts';
import { until, type HostilePage } from './hostile-page.ts';

/** Whether the page has a data channel to the provider, and whether its key allows it to change its session. */
export type Way = 'open' | 'open, overrides' | 'none';

export interface Attack {
  readonly name: string;
  readonly ways: readonly Way[];
  /** How long the call may take from its end to silence; two seconds by default. */
  readonly silentWithinMs?: number;
  readonly run: (page: HostilePage, world: World) => Promise<void>;
}

const all: readonly Way[] = ['open', 'open, overrides', 'none'];
const open: readonly Way[] = ['open', 'open, overrides'];

const ask = (response?: object) => ({ type: 'response.create', ...(response === undefined ? {} : { response }) });
const beside = ask({ conversation: 'none', max_output_tokens: 'inf' });
const unlimited = ask({ max_output_tokens: 'inf' });
/** As long as a response may be that a page runs beside another one, where its key allows that. */
const fair = ask({ conversation: 'none', max_output_tokens: 300 });

const times = async (count: number, work: (n: number) => unknown): Promise<void> => {
  for (let n = 0; n < count; n += 1) await work(n);
};

/** Keeps talking, with answers as long as they may be, until the service ends the call. */
async function talkToTheEnd(page: HostilePage): Promise<void> {
  await until(() => {
    if (page.call.ended === undefined && page.call.open.length === 0) page.speak();
    return page.call.ended !== undefined;
  });
}

export const ATTACKS: readonly Attack[] = [
  { name: 'talks until the ceiling, and ignores the end', ways: all, run: talkToTheEnd },
  {
    name: 'floods its socket with texts, interruptions and answers of tools',
    ways: all,
    run: (page) => page.flood(),
  },
  {
    name: 'asks for 30 unlimited responses at once',
    ways: open,
    run: async (page) => {
      await times(30, () => page.say(beside));
      await page.isOver();
    },
  },
  {
    name: 'asks for unlimited responses one by one',
    ways: open,
    run: (page) =>
      until(() => {
        if (page.call.ended === undefined && page.call.open.length === 0) page.say(unlimited);
        return page.call.ended !== undefined;
      }),
  },
  {
    name: 'keeps as many running as it can',
    ways: open,
    run: (page) =>
      until(() => {
        if (page.call.ended === undefined && page.call.open.length < 2) page.say(fair);
        return page.call.ended !== undefined;
      }),
  },
  {
    name: 'changes its session, and speaks before it is put back',
    ways: open,
    run: (page) =>
      until(() => {
        if (page.call.ended !== undefined) return true;
        if (page.call.open.length > 0) return false;
        page.say({
          type: 'session.update',
          session: { type: 'realtime', instructions: 'Recite.', max_output_tokens: 'inf' },
        });
        page.say(ask());
        return false;
      }),
  },
  {
    name: 'ends its session with all running that may, whose cost is not told',
    ways: all,
    run: async (page) => {
      page.call.tellsCancelledUsage = false;
      page.speak();
      page.say(fair);
      await page.talksFor(3000);
      await page.end();
      await page.isOver();
    },
  },
  {
    name: 'leaves just before an answer is done, twelve times',
    ways: all,
    run: (page) =>
      times(12, async (n) => {
        if (n > 0 && !(await page.redial())) return;
        page.speak();
        await page.talksFor(1000);
        page.call.end('remote');
        await page.isClosed();
      }),
  },
  {
    name: 'has ten answers whose usage cannot be read',
    ways: all,
    run: async (page) => {
      page.call.tellsReadableUsage = false;
      await times(10, async () => {
        page.speak();
        await page.talksFor(300);
        if (page.call.ended === undefined) page.call.finishResponse();
      });
      await page.end();
      await page.isOver();
    },
  },
  {
    name: 'makes the sideband break in an answer, again and again',
    ways: all,
    run: async (page) => {
      await times(5, async () => {
        page.speak();
        await page.talksFor(300);
        page.call.closeSidebands(1001);
        await until(() => page.call.ended !== undefined || page.call.sidebands.size > 0);
      });
      await page.end();
      await page.isOver();
    },
  },
  {
    name: 'sends one ticket ten times at once, and again when it is spent',
    ways: all,
    run: async (page) => {
      await page.replay(10);
      await talkToTheEnd(page);
    },
  },
  {
    name: 'answers tools that nobody asked it for, of others, twice, too late and at too great a length',
    ways: all,
    run: async (page) => {
      await forgeTools(page);
      await talkToTheEnd(page);
    },
  },
  {
    name: 'sends resume tokens, tickets and the frames of a former socket again',
    ways: all,
    run: async (page) => {
      await replayAll(page);
      await talkToTheEnd(page);
    },
  },
  {
    name: 'talks on while the provider says once, wrongly, that it knows no such call',
    ways: all,
    run: async (page, world) => {
      world.provider.calls.attachMode = 'not found';
      page.call.closeSidebands(1001);
      page.speak();
      await until(() => page.call.hangups.length > 0 || page.call.ended !== undefined);
      world.provider.calls.attachMode = 'ok';
      await page.isOver();
    },
  },
  {
    name: 'talks on while the service is killed, and started again',
    ways: all,
    // A dead node is replaced by another within this time (docs/security.md).
    silentWithinMs: 12_000,
    run: async (page, world) => {
      page.speak();
      await world.restart('SIGKILL');
      await page.end();
      await page.isOver();
    },
  },
];
