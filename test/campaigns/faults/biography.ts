import { describe, type History } from './history.ts';
import type { NodeLog } from './node-log.ts';

/** How many characters of an id nodes log. */
export const LOGGED_ID = 42;
const SHOWN = 4;
const LOGGED_LATE_MS = 100;

/** Everything that happened to the first few sessions that findings name: what clients saw, nodes logged, and PostgreSQL holds. */
export function biographies(findings: readonly string[], history: History, log: NodeLog): string[] {
  const ids = new Set(findings.flatMap((finding) => /s:[0-9a-f]{32}:[\w-]{22}/.exec(finding)?.[0] ?? []));
  return [...ids].slice(0, SHOWN).flatMap((id) => ['', `${id}:`, ...lifeOf(id, history, log)]);
}

/** What the nodes that findings name logged about dependencies at that time. */
export function surroundings(findings: readonly string[], log: NodeLog): string[] {
  const named = findings.flatMap((finding) => {
    const [, at, node, ms] = /(\d\d:\d\d:\d\d\.\d{3}) \w+ at node (\d+): .* after (\d+) ms/.exec(finding) ?? [];
    return at === undefined ? [] : [{ at, node: Number(node), ms: Number(ms) }];
  });
  return named.slice(-SHOWN).flatMap(({ at, node, ms }) => {
    const from = at;
    const said = log.troubles.filter(
      (trouble) =>
        trouble.node === node && clock(trouble.at) >= from && clock(trouble.at - ms - LOGGED_LATE_MS) <= from,
    );
    return ['', `Node ${node} at ${at}:`, ...said.map((trouble) => `  ${clock(trouble.at)} ${trouble.what}`)];
  });
}

function lifeOf(id: string, { journal, sessions }: History, log: NodeLog): string[] {
  const row = sessions.get(id);
  const seen = journal.entries.filter(({ about }) => about.session === id).map(describe);
  const logged = log.lines.get(id.slice(0, LOGGED_ID)) ?? [];
  const ended = row?.endedAtMs === null ? 'has not ended' : `${row?.reason} at ${clock(row?.endedAtMs)}`;
  const held = `PostgreSQL: started ${clock(row?.startedAtMs)}, last activity ${clock(row?.lastActivityAtMs)}, ${ended}`;
  return [...[...seen, ...logged].sort(), held].map((line) => `  ${line.replace(` (${id})`, '')}`);
}

function clock(ms: number | null | undefined): string {
  return ms === null || ms === undefined ? '-' : new Date(ms).toISOString().slice(11, 23);
}
