import { describe, expect, test } from 'vitest';
import { service, somebody } from '../support/app.ts';
import { HOUR } from '../support/clock.ts';
import { app, useApp } from '../support/use-apps.ts';

useApp({
  env: {
    CONSOLE_EMAILS: '@example.com,boss@globex.example',
    OPERATOR_EMAILS: 'ops@example.com',
    VIEWER_EMAILS: 'vera@example.com',
    MAX_OTP_FAILURES_PER_DAY: '1',
  },
});

const lift = (body: object, headers: Record<string, string> = service) =>
  app.post('/api/operator/addresses/lift', body, headers);

/** Requests a code and types it, or types a wrong one. */
async function logIn(email: string, isRight = true): Promise<number> {
  app.clock.advance(HOUR);
  await app.post('/api/auth/otp/send', { email });
  const mail = app.outbox.list().find(({ to }) => to === email);
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] ?? '000000';
  const typed = isRight ? code : String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  return (await app.post('/api/auth/otp/verify', { email, code: typed })).status;
}

describe('Lifting an address', () => {
  test('lets it log in although its domain has no wrong codes left, and is audited with its hash', async () => {
    const [email, other] = [somebody(), somebody()];
    expect([await logIn(other, false), await logIn(email), await logIn(other)]).toEqual([401, 401, 401]);
    const { status, body } = await lift({ email: ` ${email.toUpperCase()}`, reason: 'she called' });
    expect([status, body]).toEqual([200, { ok: true, failures: 0, mayLogIn: true }]);
    expect([await logIn(email), await logIn(other)]).toEqual([200, 401]);
    const { rows } = (await app.get('/api/operator/audit?action=address.lift', service)).body as { rows: object[] };
    expect(rows[0]).toMatchObject({
      reason: 'she called',
      result: 'done',
      target: expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(JSON.stringify(rows) + app.logged()).not.toContain(email);
  });

  test('says whether the address may log in at all', async () => {
    expect((await lift({ email: 'ann@elsewhere.example', reason: 'x' })).body).toMatchObject({ mayLogIn: false });
  });

  test('is needed when refusals and metrics show that a budget is spent, which no caller is told', async () => {
    const email = somebody();
    await logIn(email, false);
    const before = await app.post('/api/auth/otp/verify', { email, code: '000000' });
    await logIn(email);
    await app.service.journalWriter.flush();
    const { refusals } = (await app.get('/api/operator/refusals?code=INVALID_OTP&limit=1', service)).body as {
      refusals: { sentence: string; lever: string }[];
    };
    expect(refusals[0]).toMatchObject({
      lever: 'MAX_OTP_FAILURES_PER_DAY',
      sentence: expect.stringContaining("the domain's wrong codes of the day are spent"),
    });
    const metrics = (await app.get('/metrics', service)).text;
    expect(metrics).toMatch(/switchboard_login_budget_spent_total\{scope="guesses_domain"\} \d/);
    expect(app.logged()).toContain('"event":"login.budget_spent"');
    const { error, code, userMessage } = (await app.post('/api/auth/otp/verify', { email, code: '000000' })).body;
    expect({ error, code, userMessage }).toEqual({
      error: before.body['error'],
      code: before.body['code'],
      userMessage: before.body['userMessage'],
    });
  });
});
