import type { operatorStops } from '../../../../protocol/operator/stop.ts';
import { post } from '../../data/api.ts';
import { dialog } from '../../data/dialogs.ts';
import { mayChange, me } from '../../data/identity.ts';
import { queryText } from '../../data/query.ts';
import type { Watch } from '../../data/feed.ts';
import { useResource } from '../../data/resource.ts';
import type { Output } from '../../data/shapes.ts';
import { Matter } from '../../components/matters.tsx';
import { OpenButton, RevokeDialog } from '../../components/modal.tsx';
import { Moment } from '../../components/times.tsx';
import { useScope } from '../../components/scope.tsx';
import { knownOf } from '../../components/view-states.tsx';
import { countText } from '../../labels/format.ts';
import { SECOND_MS } from '../../data/durations.ts';

type Stops = Output<typeof operatorStops>;

/** The feed does not report what is still open after a stop. It does report the stop itself, as an operator's action. */
const READ_MS = 3 * SECOND_MS;
const watched: Watch = { topics: ['audit'] };

/** The heading of the overview, with the switch that stops everything in two clicks, and what is stopped. */
export function OverviewHeading() {
  const { tenantId } = useScope();
  const path = `/api/operator/stop${queryText({ tenantId })}`;
  const stops = knownOf(useResource<Stops>(path, watched));
  const meant = tenantMeant(tenantId);
  const isStopped = stops?.stops.some((stop) => (stop.tenantId ?? '') === meant) ?? true;
  return (
    <>
      <div class="title-row">
        <h1>Overview</h1>
        <span class="spring" />
        {mayChange.value && meant !== undefined && !isStopped && (
          <button type="button" class="danger" onClick={() => (dialog.value = <StopDialog tenantId={meant} />)}>
            Stop {meant === '' ? 'everything' : meant}…
          </button>
        )}
      </div>
      {stops !== undefined && stops.stops.length > 0 && <Stopped path={path} {...stops} />}
    </>
  );
}

/** What the switch stops: the tenant in scope; otherwise everything, if the operator may; undefined if it is ambiguous. */
function tenantMeant(tenantId: string): string | undefined {
  const tenants = me.value?.tenants;
  if (tenantId !== '' || tenants === '*') return tenantId;
  return tenants?.length === 1 ? tenants[0] : undefined;
}

function Stopped({ path, stops, open: { sessions, calls } }: Stops & { readonly path: string }) {
  // Only while something is stopped, because this makes everything on the page be read as often.
  useResource<Stops>(path, watched, { besideFeedMs: READ_MS });
  const left = sessions + calls.open + calls.closing;
  return (
    <div class="stops" role="status">
      {stops.map(({ tenantId, stoppedAt, actor, reason }) => (
        <div class="stop-row" key={tenantId}>
          <Matter degree="wrong">
            <b>{tenantId === null ? 'Everything is stopped' : `The tenant ${tenantId} is stopped`}</b> since{' '}
            <Moment at={stoppedAt} />, by {actor}
            {reason === null ? '' : `: “${reason}”`}. No session is opened.{' '}
            {left === 0
              ? 'Nothing is open.'
              : `Still open: ${countText(sessions)} sessions, ${countText(calls.open)} calls that go on, ${countText(calls.closing)} that the provider has not confirmed to be over.`}
          </Matter>
          {mayChange.value && (tenantId !== null || me.value?.tenants === '*') && (
            <OpenButton verb="Resume" opens={<ResumeDialog tenantId={tenantId ?? ''} />} />
          )}
        </div>
      ))}
    </div>
  );
}

interface Props {
  /** Empty for the whole installation. */
  readonly tenantId: string;
}

function StopDialog({ tenantId }: Props) {
  const what = nameOf(tenantId);
  return (
    <SwitchDialog change="stop" tenantId={tenantId} title={`Stop ${what}?`} verb={`Stop ${what}`} done="Stopped">
      No session is opened any more, and every session that is open ends now: calls are hung up in the middle of a
      sentence. It stays so, also over a restart, until somebody resumes it here.
    </SwitchDialog>
  );
}

function ResumeDialog({ tenantId }: Props) {
  return (
    <SwitchDialog
      change="resume"
      tenantId={tenantId}
      title={`Resume ${nameOf(tenantId)}?`}
      verb="Resume"
      done="Resumed"
    >
      Sessions can be opened again, at once. Those that were ended stay ended.
    </SwitchDialog>
  );
}

interface SwitchProps extends Props {
  readonly change: 'stop' | 'resume';
  readonly title: string;
  readonly verb: string;
  readonly done: string;
  /** What the change does. */
  readonly children: string;
}

/** Uses the switch. In an emergency nobody has to say why. */
function SwitchDialog({ change, tenantId, children, ...words }: SwitchProps) {
  return (
    <RevokeDialog
      {...words}
      reason="optional"
      send={(_, reason) =>
        post(`/api/operator/${change}`, { tenantId: tenantId || undefined, reason: reason || undefined })
      }
    >
      <p>{children}</p>
      <p>You need not give a reason.</p>
    </RevokeDialog>
  );
}

function nameOf(tenantId: string): string {
  return tenantId === '' ? 'everything' : `the tenant ${tenantId}`;
}
