import { Refusal } from '../../protocol/refusal.ts';
import type { CreateDeps, CreateStep, TenantFound } from './context.ts';

/** A widget key is bound to one origin. The origin of a console caller was checked with its cookie. */
export const checkOrigin: CreateStep = {
  name: 'origin',
  take({ input: { origin }, key }: TenantFound, { config }: Pick<CreateDeps, 'config'>) {
    if (key === null || (origin === undefined ? !config.requireOriginForWidgets : origin === key.origin))
      return undefined;
    return new Refusal(
      'ORIGIN_MISMATCH',
      `This widgetKey works only from the origin it is bound to, not from ${origin ?? 'a request without Origin'}.`,
      {},
      { expected: key.origin, lever: origin === undefined ? 'REQUIRE_ORIGIN_FOR_WIDGETS' : 'origin' },
    );
  },
};
