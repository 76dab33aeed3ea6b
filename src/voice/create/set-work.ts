import type { CreateAttempt, WorkQuestion } from '../../bots/contract.ts';
import type { AltchaChallenge } from '../../protocol/challenge.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { keyOfPage } from './admit-caller.ts';
import type { CreateDeps } from './step.ts';

/** Who asks for a proof of work, and for which key. */
export interface WorkAsked extends Pick<WorkQuestion, 'headers'> {
  readonly widgetKey: string;
  /** Origin of the page; undefined where its browser does not send it. */
  readonly origin: string | undefined;
  readonly addressScope: string;
  readonly window: CreateAttempt['window'];
  readonly atMs: number;
}

/**
 * Issues a proof-of-work challenge that a create of the key accepts (docs/contract.md, section 5.16). Nothing is stored: the challenge is signed.
 * @returns a Refusal INVALID_WIDGET_KEY, ORIGIN_MISMATCH, or NOT_FOUND where the key's challenges come from another provider
 */
export function setWork(
  asked: WorkAsked,
  { tenants, bots, suspects }: Pick<CreateDeps, 'tenants' | 'bots' | 'suspects'>,
): AltchaChallenge | Refusal {
  const found = keyOfPage(asked, { tenants });
  if (found instanceof Refusal) return found;
  const { key } = found;
  const { headers, addressScope, window, atMs } = asked;
  const suspicions = suspects.reasonsFor({ key, address: addressScope, window }, atMs);
  const work = bots.work?.({ headers, widget: { key, atMs, suspicions } });
  return (
    work ??
    new Refusal('NOT_FOUND', 'This widgetKey has no proof of work: its challenges are those of another provider.')
  );
}
