import type { Entry } from '../../../support/journal.ts';
import { describe, type History } from '../history.ts';
import { loginEnds } from '../revocations.ts';

const MAX_GUESSES = 5;

/**
 * Each code works at most once, and not after five wrong guesses; a login is good from its code to its end, on every node.
 * `checkRevocations` checks that it is refused after its end.
 */
export function checkCodes(history: History): string[] {
  const violations: string[] = [];
  const byEmail = new Map<string, Entry[]>();
  for (const entry of history.journal.of('verify', 'check')) {
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
  const { askedAt } = loginEnds(history.journal)(email);
  for (const look of of('check'))
    if (look.outcome === 401 && look.doneAt < askedAt) violations.push(`a live login was not known: ${describe(look)}`);
  return violations;
}
