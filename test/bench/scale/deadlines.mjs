// How late deadlines take effect: compares each session that was due with the end that it should have had.

const LOOK_AGAIN_MS = 100;
const GIVE_UP_MS = 60_000;

/**
 * Watches until all have ended.
 * @param ends when each session should end, by its `upstream_id`
 * @param sinceMs sessions that should have ended earlier are left out, because no process was running then
 * @returns for each, in milliseconds: `actedMs` from its deadline to the look at the clock that ended it, `writtenMs` to the moment when
 *   its end could be read from the history
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
