/** What a page did against its rules (docs/contract.md, section 5.10). */
export interface Strikes {
  readonly count: number;
  /** When it changed its session within the last minute. */
  readonly changedAtMs: readonly number[];
  /** Changes that the provider's own SDK may still make. */
  readonly excused: number;
  /** It changed its session, which is not restored yet. */
  readonly isChanged: boolean;
  /** It did so before there was a sideband on which to restore it. */
  readonly isRestoreDue: boolean;
}

/** The call is hung up at this many strikes. */
const MAX_STRIKES = 3;
const WINDOW_MS = 60_000;
/** Changes in a minute that are only undone; each further one is a strike. */
const MAX_CHANGES = 3;
/** How often the provider's own SDK configures its session when it connects. It does so again for each agent that a tool hands over to. */
const SDK_CONNECTS = 2;

export const noStrikes: Strikes = {
  count: 0,
  changedAtMs: [],
  excused: SDK_CONNECTS,
  isChanged: false,
  isRestoreDue: false,
};

export function struck(strikes: Strikes): Strikes {
  return { ...strikes, count: strikes.count + 1 };
}

/** Whether the page has just reached its last strike. */
export function isStruckOut(before: Strikes, after: Strikes): boolean {
  return before.count < MAX_STRIKES && after.count >= MAX_STRIKES;
}

/** The page changed what it must not. @param isAsSdk as the provider's own SDK does when it connects, or hands over to another agent */
export function changed(strikes: Strikes, isAsSdk: boolean, at: number): Strikes {
  if (isAsSdk && strikes.excused > 0) return { ...strikes, excused: strikes.excused - 1 };
  const recent = strikes.changedAtMs.filter((each) => at - each < WINDOW_MS);
  const noted = { ...strikes, isChanged: true, changedAtMs: [...recent, at] };
  return recent.length >= MAX_CHANGES ? struck(noted) : noted;
}

/** The session is again what it was created with. */
export function restored(strikes: Strikes): Strikes {
  return strikes.isChanged ? { ...strikes, isChanged: false } : strikes;
}

/** The agent called a tool, with which the SDK may change to another agent. */
export function toolCalled(strikes: Strikes): Strikes {
  return { ...strikes, excused: Math.min(strikes.excused + 1, SDK_CONNECTS) };
}
