import { startCalls } from '../../e2e/calls-world.ts';
import { acme, embedded, site, type World } from '../../support/world.ts';
import { ATTACKS, type Attack, type Way } from './attacks.ts';
import { HostilePage } from './hostile-page.ts';

export interface CampaignOptions {
  /** Runs only attacks whose names contain this text. */
  readonly only: string;
  readonly markdown: boolean;
}

/** Each visitor's ceiling in micro-dollars, low enough for the longest answers to matter. */
const CEILING = 50_000;
/** The default of MAX_OPEN_RESPONSES. */
const MAX_RUNNING = { open: 1, 'open, overrides': 2, none: 1 } as const satisfies Record<Way, number>;
/** What a token of text input and one of audio output cost with the agents' model, in micro-dollars. */
const [IN, OUT] = [4, 64];
const GRANTED_TOKENS = Math.floor(CEILING / 2 / OUT);
const CONTEXT_TOKENS = 500;
/** From an end to silence: two seconds of speech. */
const SILENT_WITHIN_MS = 2000;
/** The most that one response may cost: its context and as many tokens as are granted. */
const RESPONSE = CONTEXT_TOKENS * IN + GRANTED_TOKENS * OUT;
const SECRET = 'Help the caller.';
const WAY_WORDS = {
  open: 'data channel, key without overrides',
  'open, overrides': 'data channel, key with overrides',
  none: 'no data channel',
} as const satisfies Record<Way, string>;

const keys: Readonly<Record<Way, string>> = {
  open: 'w_acme_hostile_open_7777777777777777777777777777',
  'open, overrides': 'w_acme_hostile_over_7777777777777777777777777777',
  none: 'w_acme_hostile_none_7777777777777777777777777777',
};

interface Outcome {
  readonly attack: string;
  readonly way: Way;
  /** Micro-dollars that the provider bills, and that were counted. */
  readonly billed: number;
  readonly counted: number;
  /** Calls of the page at the provider, and the tickets that it got for them. */
  readonly calls: number;
  readonly tickets: number;
  readonly overMs: number;
  readonly silentWithinMs: number;
  readonly learned: boolean;
  /** What the page achieved that no page may. */
  readonly gotThrough: readonly string[];
}

/** Runs each attack in each of its ways. @returns the table, and the attacks that exceeded their limits */
export async function runCampaign({ only, markdown }: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const outcomes: Outcome[] = [];
  const world = await startHostile();
  try {
    for (const attack of ATTACKS.filter(({ name }) => name.includes(only)))
      for (const way of attack.ways) outcomes.push(await attackOnce(world, attack, way));
  } finally {
    await world.close();
  }
  const broken = outcomes.flatMap(judge);
  return { text: (markdown ? asMarkdown : asText)(outcomes), broken };
}

/** Runs an attack with a visitor of its own. */
async function attackOnce(world: World, attack: Attack, way: Way): Promise<Outcome> {
  const callsBefore = world.provider.calls.all.length;
  const page = await HostilePage.open(world, keys[way], way !== 'none');
  await attack.run(page, world);
  if (page.call.ended === undefined) await page.end();
  await page.isOver();
  await page.isClosed();
  const { calls, endedAt } = await page.seen();
  const counted = calls.reduce((sum, { microDollars }) => sum + microDollars, 0);
  const billed = page.calls.reduce((sum, call) => sum + billOf(call.billed), 0);
  const silentAtMs = page.call.ended?.atMs ?? 0;
  const overMs = endedAt === null ? 0 : Math.max(0, silentAtMs - Date.parse(endedAt));
  const learned = page.told.some((text) => text.includes(SECRET));
  const { name, silentWithinMs = SILENT_WITHIN_MS } = attack;
  const opened = { calls: world.provider.calls.all.length - callsBefore, tickets: page.tickets };
  const { gotThrough } = page;
  return { attack: name, way, billed, counted, ...opened, overMs, silentWithinMs, learned, gotThrough };
}

function startHostile(): Promise<World> {
  const widgetKeys = Object.entries(keys).map(([way, key], index) => ({
    id: `hostile-${index}`,
    key,
    origin: site,
    allowOverrides: way === 'open, overrides',
    limits: { dailyDollars: CEILING / 1e6 },
  }));
  const tenants = acme.tenants.map((tenant) => {
    const [agent] = tenant['agents'] as readonly object[];
    const agents = [
      { ...agent, dataChannel: 'open' },
      { ...agent, id: 'listener', dataChannel: 'none' },
    ];
    return { ...tenant, widgetKeys, agents };
  });
  return startCalls(
    { ...embedded, CALL_GRACE_SEC: '5', RESERVE_SEC: '0', RATE_OPERATOR_PER_MIN: '1000000' },
    { tenants },
  );
}

function billOf(billed: readonly { readonly usage: unknown }[]): number {
  return billed.reduce((sum, { usage }) => {
    const { input_tokens = 0, output_tokens = 0 } = (usage ?? {}) as Record<string, number>;
    return sum + input_tokens * IN + output_tokens * OUT;
  }, 0);
}

const beyond = ({ billed }: Outcome): number => Math.max(0, billed - CEILING);
const uncounted = ({ billed, counted }: Outcome): number => Math.max(0, billed - counted);

function judge(outcome: Outcome): string[] {
  const { attack, way, calls, tickets, overMs, silentWithinMs, gotThrough } = outcome;
  const bar = MAX_RUNNING[way] * RESPONSE;
  const broken = [
    [beyond(outcome) > bar, `cost ${dollars(beyond(outcome))} beyond the ceiling, more than ${dollars(bar)}`],
    [uncounted(outcome) > bar, `cost ${dollars(uncounted(outcome))} that was not counted, more than ${dollars(bar)}`],
    [calls > tickets, `had ${calls} calls of ${tickets} tickets`],
    [overMs > silentWithinMs, `was heard for ${overMs} ms after the end, more than ${silentWithinMs}`],
    ...gotThrough.map((what) => [true, what] as const),
  ] as const;
  return broken.filter(([isBroken]) => isBroken).map(([, what]) => `${way}: a page that ${attack} ${what}`);
}

const dollars = (microDollars: number): string => `$${(microDollars / 1e6).toFixed(4)}`;

function rowOf(outcome: Outcome): Readonly<Record<string, string>> {
  const { attack, way, billed, counted, overMs, learned } = outcome;
  return {
    'a page that': attack,
    way,
    billed: dollars(billed),
    counted: dollars(counted),
    'beyond the ceiling': dollars(beyond(outcome)),
    'not counted': dollars(uncounted(outcome)),
    'heard after the end': `${(overMs / 1000).toFixed(1)} s`,
    learns: learned ? 'instructions, tools' : 'what is said',
  };
}

const note = `Ceiling ${dollars(CEILING)} a visitor; a response of the granted size costs ${dollars(RESPONSE)}.`;

function asText(outcomes: readonly Outcome[]): string {
  console.table(outcomes.map(rowOf));
  return note;
}

/** The table of docs/security.md: a row for each attack, with what each way of it cost. */
function asMarkdown(outcomes: readonly Outcome[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const cellOf = (name: string, way: Way): string => {
    const made = outcomes.find((outcome) => outcome.attack === name && outcome.way === way);
    if (made === undefined) return '–';
    return `${dollars(beyond(made))} · ${dollars(uncounted(made))} · ${(made.overMs / 1000).toFixed(1)} s`;
  };
  const columns = Object.entries(WAY_WORDS) as [Way, string][];
  const names = [...new Set(outcomes.map(({ attack }) => attack))];
  return [
    line(['a page that', ...columns.map(([, words]) => words)]),
    line(['a page that', ...columns].map(() => '---')),
    ...names.map((name) => line([name, ...columns.map(([way]) => cellOf(name, way))])),
    '',
    note,
  ].join('\n');
}
