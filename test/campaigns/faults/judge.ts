import { biographies, surroundings } from './biography.ts';
import { checkAnswers, checkHeartbeats, checkRefusals, checkSlowAnswers } from './checks/answers.ts';
import { checkHangUps, checkOpenCalls } from './checks/calls.ts';
import { checkCodes } from './checks/codes.ts';
import { checkEnds, checkLateEnds } from './checks/ends.ts';
import { checkKept, checkWaited } from './checks/kept.ts';
import { checkLedger } from './checks/ledger.ts';
import { checkMeters } from './checks/meters.ts';
import { checkRevocations, checkSlowNews } from './checks/revocations.ts';
import { checkSlots } from './checks/slots.ts';
import { checkSockets } from './checks/sockets.ts';
import { summarize, timeline } from './figures.ts';
import type { History } from './history.ts';
import type { NodeLog } from './node-log.ts';
import { tellStories } from './stories.ts';

type Findings = Readonly<Record<string, readonly string[]>>;

/** The verdict on a campaign. */
export interface Report {
  /** Violations by rule; an empty list where the rule was kept. */
  readonly findings: Findings;
  /** The report for people to read. */
  readonly text: string;
}

export interface Setting {
  readonly seed: number;
  readonly durationMs: number;
  readonly log: NodeLog;
  /** By how many milliseconds each node's clock is wrong. */
  readonly skewsMs: readonly number[];
}

const SHOWN = 12;

/** Rules about time. A machine that is busy with other work breaks them, so they need a long run on a quiet machine. */
const timed = {
  ends: 'ends are at most two seconds late',
  answers: 'answers are in time',
  refusals: 'nobody is refused but while something that is needed is away',
  news: 'revocations are known on every node within a second',
} as const;

/** Checks the history against every rule. @param observed violations that were seen during the campaign */
export function judge(history: History, observed: Findings, setting: Setting): Report {
  const stories = tellStories(history.journal, history.faults, (email) => email.startsWith('spender'));
  const findings: Findings = {
    'acknowledged usage equals the ledger': checkLedger(history),
    'each session ends once and for the right reason': checkEnds(history, stories),
    [timed.ends]: checkLateEnds(history),
    'a call ends at the provider when its session has ended': checkHangUps(history),
    'no call is left open at the provider': checkOpenCalls(history),
    'what calls use is counted once, or a gap or an estimate is marked': checkMeters(history),
    'slots are never over the limit': checkSlots(stories),
    'each code works at most once': checkCodes(history),
    'an engaged session is served everywhere, an ended one nowhere': checkHeartbeats(history, stories),
    'no acknowledged heartbeat is lost by more than a second': checkKept(history, stories),
    'heartbeats of sockets are answered before they are saved': checkWaited(history),
    'what is revoked is refused everywhere, and ends what it carried': checkRevocations(history, stories),
    [timed.news]: checkSlowNews(history, stories),
    'each socket hears the end of its session once': checkSockets(history),
    'answers are as the policy says': checkAnswers(history),
    [timed.refusals]: checkRefusals(history),
    [timed.answers]: checkSlowAnswers(history),
    ...observed,
  };
  const lines = Object.entries(findings).flatMap(([rule, broken]) => [
    `${broken.length === 0 ? 'kept  ' : 'BROKEN'} ${rule}${broken.length === 0 ? '' : `: ${broken.length}`}`,
    ...broken.slice(0, SHOWN).map((what) => `         ${what}`),
  ]);
  const isBroken = Object.values(findings).some((broken) => broken.length > 0);
  const lives = biographies(Object.values(findings).flat(), history, setting.log);
  const around = surroundings(Object.values(findings).flat(), setting.log);
  const times = isBroken ? ['', 'Faults:', ...timeline(history), ...lives, ...around] : [];
  return { findings, text: [...summarize(history, stories, setting), '', ...lines, ...times].join('\n') };
}
