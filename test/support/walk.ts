import { Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url).href;
const rootPath = fileURLToPath(root);

/** What vitest puts in the place of each export. It runs wherever the export is read, which enters no file. */
const exported = /^\(\) => \{ try \{ return [\w$]+ \} catch \{\} \}$/;

/** The files of the product in which functions ran while the work did, by path from the root of the repository, with those functions. */
export async function filesEntered(work: () => Promise<unknown>): Promise<Map<string, string[]>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Debugger.enable');
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const entered = new Map<string, string[]>();
    for (const { scriptId, url, functions } of result) {
      const path = url.replace(root, '').replace(rootPath, '');
      if (!/^(?:config|machines|src)\//.test(path)) continue;
      const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId });
      for (const { functionName, ranges } of functions) {
        const [range] = ranges;
        if (range === undefined || range.count === 0) continue;
        const text = scriptSource.slice(range.startOffset, range.endOffset);
        if (!exported.test(text)) entered.set(path, [...(entered.get(path) ?? []), functionName]);
      }
    }
    return entered;
  } finally {
    session.disconnect();
  }
}
