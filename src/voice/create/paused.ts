import { Refusal } from '../../protocol/refusal.ts';
import type { CreateStep, TenantFound } from './context.ts';

export const refusePaused: CreateStep = {
  name: 'paused',
  take({ key }: TenantFound) {
    if (key === null || key.pausedAtMs === null) return undefined;
    return new Refusal('KEY_PAUSED', 'This widgetKey is paused: it opens no sessions until it is resumed.');
  },
};
