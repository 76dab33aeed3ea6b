import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { TestCall } from '../support/provider/call.ts';
import { soon } from '../support/soon.ts';
import { acme, site, siteKey, type World } from '../support/world.ts';
import { Page, seen, startCalls } from './calls-world.ts';

const lockedKey = 'w_acme_locked_666666666666666666666666666666';
/** Price of a token of audio out, and of one of text in, in micro-dollars. */
const [OUT, IN] = [64, 4];

let world: World;

beforeAll(async () => {
  world = await startCalls(
    {},
    {
      tenants: acme.tenants.map((tenant) => ({
        ...tenant,
        widgetKeys: [
          { id: 'site', key: siteKey, origin: site, limits: { dailyDollars: 1 } },
          { id: 'locked', key: lockedKey, origin: site, allowOverrides: false, limits: { dailyDollars: 1 } },
        ],
        agents: tenant['agents'],
      })),
    },
  );
});

afterAll(() => world.close());

const besideTheConversation = { type: 'response.create', response: { conversation: 'none', max_output_tokens: 'inf' } };

async function open(widgetKey: string): Promise<{ readonly page: Page; readonly call: TestCall }> {
  const page = await Page.of(world).create({ widgetKey });
  const call = await page.dial(world);
  call.generation = { tokensPerSec: 50, inputTokens: 1000 };
  return { page, call };
}

/** What the provider bills, in micro-dollars. */
function bill(call: TestCall): number {
  return call.billed.reduce((sum, { usage }) => {
    const { input_tokens = 0, output_tokens = 0 } = (usage ?? {}) as Record<string, number>;
    return sum + input_tokens * IN + output_tokens * OUT;
  }, 0);
}

/** The session's end, and what was metered of its only call, once that is closed. */
async function counted(page: Page) {
  await vi.waitFor(async () => expect((await seen(world, page)).calls[0]?.state).toBe('closed'), soon);
  const session = await seen(world, page);
  return { ...session, call: session.calls[0] };
}

describe('A page that speaks to the provider itself, and asks for more than it may', () => {
  test('is hung up after thirty unlimited responses at once, with a key without overrides, and pays for each', async () => {
    const { page, call } = await open(lockedKey);
    for (let n = 0; n < 30; n += 1) call.fromPage(besideTheConversation);
    await vi.waitFor(() => expect(call.ended?.reason).toBe('hangup'), soon);
    const seenThen = await counted(page);
    expect(seenThen).toMatchObject({ call: { closeReason: 'tampered' } });
    // The call may be closed before the node has ended its session.
    await vi.waitFor(async () => expect(await seen(world, page)).toMatchObject({ endReason: 'upstream_ended' }), soon);
    expect(call.billed).toHaveLength(30);
    expect(call.heard.filter(({ type }) => type === 'response.cancel').map(({ response_id }) => response_id)).toEqual(
      expect.arrayContaining(call.billed.map(({ id }) => id)),
    );
    expect(seenThen.call?.microDollars).toBe(bill(call));
  });

  test('gets the provider’s refusal for a second response in the conversation, which does not count against it', async () => {
    const { page, call } = await open(lockedKey);
    for (let n = 0; n < 5; n += 1) call.fromPage({ type: 'response.create' });
    expect(call.toPage).toMatchObject(
      Array.from({ length: 4 }, () => ({ error: { code: 'conversation_already_has_active_response' } })),
    );
    call.fromPage({ type: 'response.cancel' });
    expect(call.ended).toBeUndefined();
    await page.end();
    expect((await counted(page)).call).toMatchObject({ closeReason: 'session_ended', microDollars: bill(call) });
  });
});
