import { isBlocked } from '../../bots/contract.ts';
import { andThen } from '../../kernel/eventually.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { CreateDeps, CreateStep } from './context.ts';

/** Every verdict is logged with the id of its request (docs/contract.md, section 4.2). */
export const refuseBot: CreateStep = {
  name: 'bot',
  take({ input: { ip, request } }, { bots, events }: Pick<CreateDeps, 'bots' | 'events'>) {
    const { headers, path, method, requestId } = request;
    return andThen(bots.assess({ ip, headers, path, method, requestId }), (verdict) => {
      events.botJudged(verdict, requestId);
      if (!isBlocked(verdict)) return undefined;
      const why = { lever: 'BOT_PROVIDER', verdict: `${verdict.provider} ${verdict.confidence}` };
      return new Refusal('BOT_BLOCKED', 'The bot verdict on this request is negative.', {}, why);
    });
  },
};
