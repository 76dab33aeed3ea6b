import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { mailSender, mailServer } from '../../../src/mail/variables.ts';
import { SmtpMailer } from '../../../src/mail/smtp.ts';
import { Unavailable } from '../../../src/kernel/errors.ts';
import { refOf } from '../../../src/kernel/ids.ts';
import { alertMail } from '../../../src/mail/templates/alert.ts';
import type { NewBudget } from '../../../src/stores/budgets/contract.ts';
import type { ReconciledDay } from '../../../src/stores/reconciliations/contract.ts';
import type { WebhookDelivery } from '../../../src/stores/webhooks/contract.ts';
import { CONSOLE, service, somebody, STAFF, type TestApp } from '../../support/app.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../support/clock.ts';
import { TestSmtp, type ReceivedMail } from '../../support/smtp.ts';
import { useApps } from '../../support/use-apps.ts';
import { aBudget } from '../../contracts/budgets.ts';

const { build, database } = useApps();
const BOSS = 'boss@globex.example';

let smtp: TestSmtp;
let app: TestApp;
beforeEach(async () => {
  smtp = await TestSmtp.start();
  app = await node();
});
afterEach(async () => {
  await smtp.close();
  const tables = ['webhook_event', 'webhook_endpoint', 'budget_state', 'budget', 'counter'];
  for (const table of [...tables, 'usage_total', 'usage_hour', 'usage_entry'])
    await database().run((sql) => sql`delete from ${sql(table)}`);
});

/** A node that mails through a real mail server. */
function node(beside?: TestApp): Promise<TestApp> {
  const from = mailSender.parse('Switchboard <no-reply@example.org>');
  const mailer = new SmtpMailer({ server: mailServer.parse(smtp.url), from, timeoutMs: 60_000 });
  return build({ env: STAFF, mailer, ...(beside && { clock: beside.clock, live: beside.live }) });
}

/** Makes a budget of ten dollars for the tenant `globex`, whose admin is the boss. */
async function make(changes: Partial<NewBudget> = {}): Promise<void> {
  const budget = aBudget({ tenantId: 'globex', changedAtMs: 1, ...changes });
  await app.service.stores.budgets.insert(budget, 50);
  await app.service.directory.reload();
}

const use = (dollars: number, email = somebody(), tenantId = 'globex') =>
  app.post('/api/auth/usage', { tenantId, email, tokens: 0, dollars }, service);

const tick = (on = app): Promise<void> => on.service.webhooks.mails.tick();

const sent = () => smtp.mails.map(({ envelope, parsed }) => `${envelope.to.join()}: ${parsed.subject}`).toSorted();

async function mailsTo(address: string): Promise<readonly WebhookDelivery[]> {
  return (await app.service.stores.webhooks.deliveries({ endpointId: `mailto:${address}` }, undefined, 200)).rows;
}

describe('People', () => {
  test('are told of a budget once over all nodes: what is used of what, until when, and what follows', async () => {
    await make();
    const other = await node(app);
    await use(6);
    await Promise.all([tick(), tick(other)]);
    await tick();
    expect(smtp.mails).toHaveLength(1);
    const { envelope, parsed, raw } = smtp.mails[0] as ReceivedMail;
    expect(envelope.to).toEqual([BOSS]);
    expect(parsed.subject).toBe('The budget "march" of globex has reached 50 %');
    expect(parsed.html).toBeUndefined();
    expect(raw).toContain('Auto-Submitted: auto-generated');
    const text = parsed.text ?? '';
    expect(text).toContain('Used: $6.00 of $10.00');
    expect(text).toMatch(/Counts: tenant:globex, a month, since \d{4}-\d\d-01 00:00 UTC/);
    expect(text).not.toContain('Sessions');
    expect(text).toMatch(/Begins anew: \d{4}-\d\d-01 00:00 UTC/);
    expect(text).toContain('When nothing is left: sessions are refused, and those that are open end');
    expect(text).toContain(`${CONSOLE}/console/budgets`);
    await use(4);
    await tick();
    expect(smtp.mails[1]?.parsed.subject).toBe('The budget "march" of globex is used up');
    expect(await mailsTo(BOSS)).toMatchObject([{ state: 'delivered' }, { state: 'delivered' }]);
  });

  test('are those that the budget names, nobody where it names none, and operators for the installation', async () => {
    await make({ tell: ['a@example.com', 'b@example.com'] });
    await make({ id: 'quiet', tell: [] });
    await make({ id: 'all', tenantId: null, of: 'installation' });
    await use(6);
    await tick();
    expect(sent()).toEqual([
      'a@example.com: The budget "march" of globex has reached 50 %',
      'b@example.com: The budget "march" of globex has reached 50 %',
      'ops@example.com: The budget "all" of the installation has reached 50 %',
    ]);
  });

  test('are told which sessions cost most, by their refs', async () => {
    await make();
    const key = await app.key({ tenantId: 'globex' });
    const ids = [await app.open(key), await app.open(key), await app.open(await app.key())] as const;
    for (const [n, dollars] of [2, 4.5, 100].entries())
      await app.post('/api/auth/usage', { sm_session_id: ids[n], tokens: 0, dollars }, service);
    await tick();
    const [{ parsed, raw }] = smtp.mails as [ReceivedMail];
    const refs = ids.map(refOf);
    expect(parsed.text).toContain(`Sessions that cost most:\n  ${refs[1]}  $4.50\n  ${refs[0]}  $2.00\n`);
    expect(parsed.text).not.toContain(refs[2]);
    for (const id of ids) expect(raw).not.toContain(id);
    // They are told of the next threshold even if these cannot be read.
    const { budgetUse } = app.service.stores;
    vi.spyOn(budgetUse, 'dearestSessions').mockRejectedValueOnce(new Unavailable('database'));
    await use(2);
    vi.restoreAllMocks();
    await tick();
    expect(smtp.mails[1]?.parsed.subject).toBe('The budget "march" of globex has reached 80 %');
    expect(smtp.mails[1]?.parsed.text).not.toContain('Sessions');
  });

  test('are told since when sessions were looked at, where a period has too many entries, and no sessions in alerts of older builds', () => {
    const data = {
      tenantId: 'globex',
      budget: { id: 'march', of: 'tenant', period: 'month' },
      account: 'tenant:globex',
      percent: 50,
      used: { tokens: 0, microDollars: 6_000_000 },
      limit: { tokens: null, microDollars: 10_000_000 },
      then: 'end',
      resetAt: '2030-04-01T00:00:00.000Z',
      projectedAt: null,
    } as const;
    const textOf = (more: object): string =>
      alertMail([{ type: 'budget.warned', timestamp: '2030-03-09T10:00:00.000Z', data: { ...data, ...more } }], CONSOLE)
        .text;
    const sessions = [{ ref: 's:9c6574da8b8a41a18da9308f4ad974ce:Zq3v0m8', microDollars: 10_000 }];
    const [since, sessionsSince] = ['2030-03-01T00:00:00.000Z', '2030-03-09T07:10:00.000Z'];
    expect(textOf({ since, sessions, sessionsSince })).toContain(
      `Sessions that cost most since 2030-03-09 07:10 UTC:\n  ${sessions[0]?.ref}  $0.01\n`,
    );
    expect(textOf({})).toMatch(/Counts: tenant:globex, a month\n(?!.*Sessions)/s);
  });

  test('get twenty mails an hour of a tenant, and the rest in one when the hour is over', async () => {
    await make({ of: 'user', tell: ['a@example.com', 'b@example.com'] });
    await make({ id: 'other', tenantId: 'acme', tell: ['c@example.com'] });
    for (let n = 0; n < 12; n += 1) await use(6);
    await use(6, somebody(), 'acme');
    await tick();
    expect(smtp.mails).toHaveLength(21);
    app.clock.advance(59 * MINUTE);
    await tick();
    expect(smtp.mails).toHaveLength(21);
    app.clock.advance(MINUTE);
    await tick();
    const digests = smtp.mails.slice(21).map(({ envelope, parsed }) => `${envelope.to.join()}: ${parsed.subject}`);
    expect(digests).toHaveLength(2);
    for (const digest of digests) expect(digest).toMatch(/^[ab]@example\.com: \d more alerts of /);
    expect(smtp.mails.at(-1)?.parsed.text).toContain('The budget "march" of globex has reached 50 %');
    await tick();
    expect(smtp.mails).toHaveLength(23);
  });

  test('are told later where the mail server is away, for a day, and what was not sent is none of the twenty', async () => {
    await make({ tell: ['a@example.com', 'b@example.com'] });
    await use(6);
    smtp.mode = 'drop';
    await tick();
    const attempts = async () =>
      [...(await mailsTo('a@example.com')), ...(await mailsTo('b@example.com'))].map((row) => row.attempts);
    // One mail finds that the server is away; the other waits for its outcome.
    expect((await attempts()).toSorted((a, b) => a - b)).toEqual([0, 1]);
    expect(await app.service.stores.counters.read('alert-mails:globex', HOUR, app.clock.now())).toBe(0);
    smtp.mode = 'ok';
    app.clock.advance(MINUTE);
    await tick();
    expect(smtp.mails).toHaveLength(2);
    await use(4);
    smtp.mode = 'drop';
    smtp.dropConnections();
    for (let hours = 0; hours <= 50; hours += 1) {
      await tick();
      app.clock.advance(HOUR);
    }
    const states = async () => (await mailsTo('a@example.com')).map(({ state, lastCode }) => `${state} ${lastCode}`);
    expect(await states()).toEqual(['dead unreachable', 'delivered null']);
    expect(smtp.mails).toHaveLength(2);
  });

  test('whose mailbox is refused are tried once, and hold up nobody', async () => {
    await make({ tell: ['a@example.com'] });
    await use(6);
    smtp.mode = 'reject recipient';
    await tick();
    expect(await mailsTo('a@example.com')).toMatchObject([{ state: 'dead', attempts: 1, lastCode: 'refused' }]);
  });

  test('are told of a webhook that fails and one that is given up, without its path, and not of what one of them did', async () => {
    const { endpoints } = app.service.webhooks;
    const { host, webhooks } = endpoints;
    const id = 'globex:hooks';
    const webhook = { id: 'hooks', url: 'https://hooks.globex.example/secret?token=x', types: ['session.ended'] };
    const tenant = { id: 'globex', name: 'Globex', agents: [], admins: [BOSS, '@globex.example'], keys: [] };
    await app.service.stores.tenants.merge([{ ...tenant, webhooks: [{ ...webhook, createdAtMs: 1 }] }]);
    await app.service.directory.reload();
    const at = () => app.clock.now();
    for (let n = 0; n < 6; n += 1) await host.send(id, { type: 'FAILED', at: at() });
    await tick();
    expect(sent()).toEqual([`${BOSS}: The webhook at hooks.globex.example of globex fails`]);
    expect(smtp.mails[0]?.raw).not.toContain('token');
    app.clock.advance(5 * DAY);
    await host.send(id, { type: 'FAILED', at: at() });
    await host.send(id, { type: 'ENABLE', at: at() });
    await host.send(id, { type: 'DISABLE', at: at() });
    await tick();
    expect(sent()).toEqual([
      `${BOSS}: The webhook at hooks.globex.example of globex fails`,
      `${BOSS}: The webhook at hooks.globex.example of globex is disabled`,
    ]);
    expect(await webhooks.find(id)).toMatchObject({ state: 'disabled', disabledFor: 'operator' });
  });

  test('who operate it are told that the meter is not what the provider bills', async () => {
    const row = {
      model: 'voice',
      class: 'audioIn',
      ours: 1000,
      theirs: 2000,
      microDollars: 32_000_000,
      isEqual: false,
    };
    const day = {
      day: '2031-05-01',
      upstream: 'openai',
      state: 'unexplained',
      rows: [row],
      ourMicroDollars: 100,
      theirMicroDollars: 164,
      estimatedMicroDollars: 0,
      unexplainedMicroDollars: 32_000_000,
      drifts: [{ model: 'voice', microDollars: 32_000_000 }],
      askedAtMs: app.clock.now(),
    } as ReconciledDay;
    await app.service.stores.reconciliations.save(day, ['ops@example.com']);
    await tick();
    expect(sent()).toEqual(['ops@example.com: What was counted of voice on 2031-05-01 is not what openai bills']);
    expect(smtp.mails[0]?.parsed.text).toContain('audioIn: counted 1,000, billed 2,000 tokens');
    expect(smtp.mails[0]?.parsed.text).toContain('Unexplained: $32.00');
  });
});

test('What a node claimed that died is mailed by another once its lease ends', async () => {
  await make();
  await use(6);
  const { webhooks } = app.service.stores;
  const atMs = app.clock.now();
  expect(await webhooks.claimMails(atMs, atMs + MINUTE, 10)).toHaveLength(1);
  await tick();
  expect(smtp.mails).toHaveLength(0);
  app.clock.advance(MINUTE + SECOND);
  await tick();
  expect(sent()).toHaveLength(1);
});
