import type { Answer, Caller } from '../caller.ts';
import type { Mailbox } from '../mailbox.ts';
import type { Operator } from '../operator.ts';
import type { Random } from '../random.ts';

const WRONG_GUESSES = 6;

/** Users who log in (sending one code many times at once), look around and log out, or are thrown out. Each login has a new address. */
export async function logins(
  caller: Caller,
  random: Random,
  name: string,
  mailbox: Mailbox,
  operator: Operator,
): Promise<void> {
  for (let life = 0; !caller.isOver; life += 1) {
    const email = `${name}${life}@mail.example`;
    const sent = await caller.send({ call: 'send', body: { email }, about: { email } }, random);
    const code = sent.outcome === 200 ? await mailbox.codeFor(email) : undefined;
    if (code === undefined) await caller.pause(500);
    else if (random.chance(0.25)) await guess(caller, random, email, code);
    else await visit(caller, random, email, code, operator);
  }
}

function verify(caller: Caller, random: Random, email: string, code: string): Promise<Answer> {
  return caller.send({ call: 'verify', body: { email, code }, about: { email, code } }, random);
}

/** After five wrong guesses the right code must no longer work. */
async function guess(caller: Caller, random: Random, email: string, code: string): Promise<void> {
  const wrong = code === '000000' ? '000001' : '000000';
  await Promise.all(Array.from({ length: WRONG_GUESSES }, () => verify(caller, random.fork(), email, wrong)));
  await verify(caller, random, email, code);
}

async function visit(caller: Caller, random: Random, email: string, code: string, operator: Operator): Promise<void> {
  const answers = await Promise.all(Array.from({ length: 8 }, () => verify(caller, random.fork(), email, code)));
  const entered = answers.find(({ outcome }) => outcome === 200);
  const cookie = entered?.cookie;
  if (cookie === undefined) return;
  const headers = { cookie: `tenant_session=${cookie}` };
  const look = (): Promise<Answer> => caller.send({ call: 'check', headers, about: { email } }, random);
  for (let looks = random.between(1, 5); looks > 0; looks -= 1) {
    await look();
    await caller.pause(random.between(100, 1000));
  }
  const isOver = random.chance(0.5)
    ? (await caller.send({ call: 'logout', body: {}, headers, about: { email } }, random)).outcome === 200
    : await operator.revokeLogin(email, String(entered?.body.session?.['sessionId']));
  if (!isOver) return;
  for (let looks = 4; looks > 0; looks -= 1) {
    await caller.pause(random.between(300, 2000));
    await look();
  }
}
