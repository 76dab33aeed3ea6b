import type { OperatorKey } from '../../../../protocol/operator/key.ts';
import { pauseKey } from '../../data/keys.ts';
import { RevokeDialog } from '../../parts/revoke-dialog.tsx';

/** Pauses a key, or resumes one that is paused. */
export function PauseKeyDialog({ tenantId, id, pausedAt }: Pick<OperatorKey, 'tenantId' | 'id' | 'pausedAt'>) {
  const isPaused = pausedAt !== null;
  return (
    <RevokeDialog
      title={`${isPaused ? 'Resume' : 'Pause'} the key ${tenantId}/${id}?`}
      verb={isPaused ? 'Resume' : 'Pause'}
      isReady
      act={async (reason) => {
        const answer = await pauseKey({ tenantId, id }, isPaused ? 'resume' : 'pause', reason);
        return answer.ok ? undefined : answer.failure;
      }}
      done={isPaused ? 'Key resumed' : 'Key paused'}
    >
      {isPaused ? (
        <p>Its website can open sessions again, at once.</p>
      ) : (
        <p>Its website opens no new sessions until the key is resumed. Sessions that are open go on to their limits.</p>
      )}
    </RevokeDialog>
  );
}
