import type { Entry } from '../../support/journal.ts';
import { describe, isAway, type History } from '../history.ts';

const MAX_GUESSES = 5;
/** Goal R8: a second; five when what carries the news is in trouble. */
const NEWS_MS = 1000;
const SLOW_NEWS_MS = 5000;

/** Each code worked at most once, not at all after five guesses, and a login holds from its code to its end, on every node. */
export function checkCodes(history: History): string[] {
  const violations: string[] = [];
  const byEmail = new Map<string, Entry[]>();
  for (const entry of history.journal.of('send', 'verify', 'check', 'logout')) {
    const email = entry.about.email ?? '';
    const list = byEmail.get(email);
    if (list === undefined) byEmail.set(email, [entry]);
    else list.push(entry);
  }
  for (const [email, entries] of byEmail) violations.push(...checkPerson(email, entries, history));
  return violations;
}

function checkPerson(email: string, entries: readonly Entry[], history: History): string[] {
  const violations: string[] = [];
  const of = (call: Entry['call']): Entry[] => entries.filter((entry) => entry.call === call);
  const worked = of('verify').filter(({ outcome }) => outcome === 200);
  if (worked.length > 1) violations.push(`the code of ${email} worked ${worked.length} times`);
  const logins = history.logins.get(email) ?? 0;
  if (logins > 1) violations.push(`one code of ${email} made ${logins} logins`);
  const [entered] = worked;
  if (entered === undefined) return violations;

  const wrong = of('verify').filter(
    ({ outcome, doneAt, about }) => outcome === 401 && about.code !== entered.about.code && doneAt < entered.sentAt,
  );
  if (wrong.length >= MAX_GUESSES) violations.push(`the code of ${email} worked after ${wrong.length} wrong guesses`);
  const left = of('logout');
  const leftAt = Math.min(...left.map(({ sentAt }) => sentAt));
  const goneAt = Math.min(...left.filter(({ outcome }) => outcome === 200).map(({ doneAt }) => doneAt));
  for (const look of of('check')) {
    const isTrouble = (['redis', 'postgres'] as const).some((dependency) =>
      isAway(history.faults, dependency, { sentAt: goneAt, doneAt: look.doneAt }),
    );
    const isFrozen = history.faults.some(
      ({ node, from, to }) => node === look.node && from <= look.doneAt && to >= goneAt,
    );
    const newsMs = isTrouble || isFrozen ? SLOW_NEWS_MS : NEWS_MS;
    if (look.outcome === 401 && look.doneAt < leftAt) violations.push(`a live login was not known: ${describe(look)}`);
    if (look.outcome === 200 && look.sentAt > goneAt + newsMs)
      violations.push(`a login that ended ${look.sentAt - goneAt} ms ago was still good: ${describe(look)}`);
  }
  return violations;
}
