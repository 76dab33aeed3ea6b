/** What an emergency stop covers, and the requests that stop and resume. */
import type { operatorStops, resumeReply, stopReply } from '../../../protocol/operator/stop.ts';
import { post, type Answer } from './api.ts';
import type { Output } from './shapes.ts';

export type Stops = Output<typeof operatorStops>;

/** @param tenantId empty for the whole installation */
export function stopService(tenantId: string): Promise<Answer<Output<typeof stopReply>>> {
  return post('/api/operator/stop', { tenantId: tenantId || undefined });
}

/** @param tenantId empty for the whole installation */
export function resumeService(tenantId: string): Promise<Answer<Output<typeof resumeReply>>> {
  return post('/api/operator/resume', { tenantId: tenantId || undefined });
}
