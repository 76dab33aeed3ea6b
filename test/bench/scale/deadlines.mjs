// How late deadlines are acted upon: each session that was due, against the end that it was to have.

const LOOK_AGAIN_MS = 100;
const GIVE_UP_MS = 60_000;

/**
 * Watches until all have ended.
 * @param ends when each is to end, by its `upstream_id`
 * @param sinceMs those that were to end before are left out: no process was there
 * @returns of each, in milliseconds: `actedMs` from its deadline to the look at the clock that ended it, `writtenMs` to its end being read
 *   from the history
 * @throws Error when some have not ended long after the last deadline
 */
export async function watchEnds(sql, ends, sinceMs) {
  const waiting = new Map([...ends].filter(([, end]) => end > sinceMs));
  const late = { actedMs: [], writtenMs: [] };
  const last = Math.max(...waiting.values());
  while (waiting.size > 0) {
    const now = Date.now();
    if (now > last + GIVE_UP_MS) throw new Error(`${waiting.size} sessions have not ended`);
    const past = [...waiting].filter(([, end]) => end < now).map(([name]) => name);
    const ended = await sql`
      select upstream_id as name, settled_at_ms - ended_at_ms as "actedMs" from voice_session
      where upstream_id = any(${past}) and ended_at_ms is not null`;
    for (const { name, actedMs } of ended) {
      late.actedMs.push(Number(actedMs));
      late.writtenMs.push(Date.now() - waiting.get(name));
      waiting.delete(name);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return late;
}
