import type { CallMode } from '../protocol/call.ts';
import type { Capabilities, UpstreamProvider } from './contract.ts';

/** What is enforced for the calls of one provider in one mode, in words for operators. */
export interface Enforcement {
  /** Who opens the call. */
  readonly opens: string;
  /** Whether the end of a session ends its call, how, and how fast. */
  readonly end: string;
  /** What limits how long a call lasts. */
  readonly cap: string;
  /** Where the cost of a call comes from. */
  readonly meter: string;
  /** Whether the page is kept from changing what was set up. */
  readonly lock: string;
}

/** Describes what is enforced, from what the provider declares; a mode that the provider cannot do is refused at the start. */
export function describeEnforcement(capabilities: Capabilities, mode: CallMode): Enforcement {
  if (capabilities.call === 'none') return simulated;
  return mode === 'brokered' ? describeBrokered(capabilities) : describeDirect(capabilities);
}

const nothing = 'nothing: there is no call';
const simulated: Enforcement = {
  opens: 'nobody: calls are simulated',
  end: nothing,
  cap: nothing,
  meter: nothing,
  lock: nothing,
};

const reported = 'advisory: what the page and services report';

/** For calls that pages open with our token, and that we end. */
function describeEnded({ hangUp, lockConfig }: Capabilities): Enforcement {
  return {
    opens: 'the page, with a token of ours',
    end: hangUps[hangUp],
    cap: 'MAX_SESSION_MINUTES, by the hang-up',
    meter: "connected time, by the provider's webhooks and our clock; tokens as services report them",
    lock: lockConfig ? 'yes' : 'no',
  };
}

function describeDirect(capabilities: Capabilities): Enforcement {
  const { capDuration, lockConfig, providerMaxSec, returnSec } = capabilities;
  if (returnSec !== undefined) return describeEnded(capabilities);
  const inToken = capDuration !== null;
  return {
    opens: "the page, with the provider's own secret",
    end: `advisory: the page is told to hang up${inToken ? '; a page that does not is stopped by the cap' : ''}`,
    cap: inToken
      ? `MAX_SESSION_MINUTES, in the secret (${span(capDuration.minSec)} to ${span(capDuration.maxSec)})`
      : providersOwn(providerMaxSec),
    meter: reported,
    lock: lockConfig ? 'yes, in the secret' : 'no',
  };
}

const hangUps = {
  http: 'real: hung up over HTTP within 2 s, tried again until confirmed',
  socket: 'real: closed over a WebSocket within 2 s, tried again until confirmed',
  none: 'advisory: the page is told to hang up',
} as const satisfies Record<Capabilities['hangUp'], string>;

const meters = {
  events: "the provider's events, heard by Switchboard",
  clock: "connected time, by Switchboard's clock",
  'report-after': "the provider's report after the call",
  none: reported,
} as const satisfies Record<Capabilities['meter'], string>;

function describeBrokered({ hangUp, meter, lockConfig, providerMaxSec }: Capabilities): Enforcement {
  return {
    opens: "Switchboard, with the project's key",
    end: hangUps[hangUp],
    cap:
      hangUp === 'none'
        ? providersOwn(providerMaxSec)
        : `MAX_SESSION_MINUTES, by the hang-up; ${providersOwn(providerMaxSec)}`,
    meter: meters[meter],
    lock: lockConfig ? 'yes' : 'without a data channel; else changes are seen, and put back for keys without overrides',
  };
}

function providersOwn(maxSec: number | null): string {
  return maxSec === null ? "the provider's own is not known" : `the provider's own: ${span(maxSec)}`;
}

/** Whole minutes where it is at least one, rounded down. */
function span(seconds: number): string {
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min`;
}

/** Who answers a provider's calls: its model, an echo of the caller's own voice, or nobody. */
export type Answerer = 'model' | 'echo' | 'nobody';

export function answererOf({
  simulated,
  capabilities,
}: Pick<UpstreamProvider, 'simulated' | 'capabilities'>): Answerer {
  if (!simulated) return 'model';
  return capabilities.call === 'none' ? 'nobody' : 'echo';
}

const notes = { model: '', echo: ' (an echo, no model)', nobody: ' (simulated)' } as const;

/** The provider's name, and what stands in for it where it is simulated. */
export function titleOf(provider: Pick<UpstreamProvider, 'name' | 'simulated' | 'capabilities'>): string {
  return provider.name + notes[answererOf(provider)];
}
