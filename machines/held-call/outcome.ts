import type { HeldCallCommand, HeldCallContext } from './types.ts';

/** What a rule makes of a call, and what whoever holds it is to do. */
export type Outcome = readonly [call: HeldCallContext, commands: readonly HeldCallCommand[]];

/** One rule after the other. */
export function inOrder(call: HeldCallContext, ...rules: readonly ((call: HeldCallContext) => Outcome)[]): Outcome {
  return rules.reduce<Outcome>(
    ([before, commands], rule) => {
      const [after, more] = rule(before);
      return [after, [...commands, ...more]];
    },
    [call, []],
  );
}
