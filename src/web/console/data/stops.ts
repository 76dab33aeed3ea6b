/** What an emergency stop covers, and the requests that stop and resume. */
import type { operatorStops, stopRequest } from '../../../protocol/operator/stop.ts';
import { post, type Failure } from './api.ts';
import type { Output } from './shapes.ts';

export type Stops = Output<typeof operatorStops>;

/**
 * Stops or resumes.
 * @param tenantId empty for the whole installation
 * @param reason empty if none was given
 * @returns why it was refused, or undefined
 */
export async function changeService(
  verb: 'stop' | 'resume',
  tenantId: string,
  reason: string,
): Promise<Failure | undefined> {
  const request: Output<typeof stopRequest> = {
    ...(tenantId !== '' && { tenantId }),
    ...(reason !== '' && { reason }),
  };
  const answer = await post(`/api/operator/${verb}`, request);
  return answer.ok ? undefined : answer.failure;
}
