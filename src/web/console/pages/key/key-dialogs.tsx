import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OperatorKey, revokeKeyReply } from '../../../../protocol/operator/key.ts';
import { post, type Failure } from '../../data/api.ts';
import type { Output } from '../../data/shapes.ts';
import { Refused, RevokeDialog } from '../../components/modal.tsx';
import { countText } from '../../labels/format.ts';

/** Revokes a key. How many sessions that ends is counted when the dialog opens. */
export function RevokeKeyDialog({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>) {
  const address = `/api/operator/keys/${encodeURIComponent(id)}/revoke`;
  const live = useSignal<number | undefined>(undefined);
  const failure = useSignal<Failure | undefined>(undefined);
  useEffect(() => {
    void post<Output<typeof revokeKeyReply>>(address, { tenantId, dryRun: true }).then((answer) => {
      if (answer.ok) live.value = answer.body.liveSessions;
      else failure.value = answer.failure;
    });
  }, []);
  const count = live.value;
  return (
    <RevokeDialog
      title={`Revoke the key ${tenantId}/${id}?`}
      verb="Revoke for ever"
      isReady={count !== undefined}
      confirm={id}
      send={(_, reason) => post(address, { tenantId, reason })}
      done="Key revoked"
    >
      <p role="status">
        {count === undefined ? (
          'Counting its sessions…'
        ) : (
          <b>
            {count === 0
              ? 'No session is live with it.'
              : `${countText(count)} live ${count === 1 ? 'session ends' : 'sessions end'} with it.`}
          </b>
        )}
      </p>
      <p>
        It is for ever: no setting brings a revoked key back, and its website stops talking until it has another one.
      </p>
      <Refused failure={failure.value} />
    </RevokeDialog>
  );
}

/** Pauses a key, or resumes a paused one. */
export function PauseKeyDialog({ tenantId, id, pausedAt }: Pick<OperatorKey, 'tenantId' | 'id' | 'pausedAt'>) {
  const isPaused = pausedAt !== null;
  const address = `/api/operator/keys/${encodeURIComponent(id)}/${isPaused ? 'resume' : 'pause'}`;
  return (
    <RevokeDialog
      title={`${isPaused ? 'Resume' : 'Pause'} the key ${tenantId}/${id}?`}
      verb={isPaused ? 'Resume' : 'Pause'}
      send={(_, reason) => post(address, { tenantId, reason })}
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
