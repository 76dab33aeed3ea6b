import { enTalk } from '../translations/en.ts';
import type { Look, Mount } from '../view.ts';
import { createAwake } from './wake-lock.ts';
import { createCopy } from './copy-captions.ts';
import { guardEnd } from './confirm-end.ts';
import { createHold } from './push-to-talk.ts';
import { createInstead } from './write-instead.ts';
import { createMicrophones } from './microphones.ts';
import { createRating } from './rating.ts';

/** What only a conversation needs. It is loaded when one begins, so that pages without one load less. */
export const mountTalk: Mount = ({ captions, toggle, footer, row, end, form }, { talk, use, write, rate, tell }) => {
  const hold = createHold(talk);
  const instead = createInstead(write);
  const microphones = createMicrophones(use);
  const copy = createCopy(captions, tell);
  const rating = createRating(rate, tell);
  const endGuard = guardEnd(row, end, tell);
  const keepAwake = createAwake();
  footer.prepend(rating.element);
  row.before(hold.element);
  form.before(instead.element, microphones.element);
  toggle.before(copy.element);
  return (look: Look) => {
    const spoken = { ...look, words: { ...enTalk, ...look.words } };
    for (const part of [hold, instead, microphones, copy, rating, endGuard]) part.show(spoken);
    keepAwake(look.state.phase === 'connecting' || look.state.phase === 'live');
  };
};
