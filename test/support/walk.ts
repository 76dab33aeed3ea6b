import { Session, type Profiler } from 'node:inspector';
import { fileURLToPath } from 'node:url';

const root = new URL('../../', import.meta.url).href;
const rootPath = fileURLToPath(root);

/** The getter that vitest generates for each export. It runs wherever the export is read, which does not count as entering its file. */
const exported = /^\(\) => \{ try \{ return [\w$]+ \} catch \{\} \}$/;

/** Reports in which files of the product functions ran between `restart` and `entered`. It takes no turn of the event loop itself. */
export class Walk {
  readonly #session = new Session();

  constructor() {
    this.#session.connect();
    this.#session.post('Debugger.enable');
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }

  restart(): void {
    this.#take();
  }

  /** Paths from the root of the repository, sorted; starts recording anew as well. */
  entered(): string[] {
    const paths = this.#take().flatMap(({ scriptId, url, functions }) => {
      const path = url.replace(root, '').replace(rootPath, '');
      return /^(?:config|machines|src)\//.test(path) && this.#ran(scriptId, functions) ? [path] : [];
    });
    return paths.toSorted();
  }

  close(): void {
    this.#session.disconnect();
  }

  #take(): readonly Profiler.ScriptCoverage[] {
    let taken: readonly Profiler.ScriptCoverage[] | undefined;
    this.#session.post('Profiler.takePreciseCoverage', (_, { result }) => (taken = result));
    // The inspector answers its own thread before `post` returns.
    if (taken === undefined) throw new Error('the inspector did not answer at once');
    return taken;
  }

  #ran(scriptId: string, functions: readonly Profiler.FunctionCoverage[]): boolean {
    let source = '';
    this.#session.post('Debugger.getScriptSource', { scriptId }, (_, found) => (source = found.scriptSource));
    return functions.some(({ ranges: [range] }) => {
      if (range === undefined || range.count === 0) return false;
      return !exported.test(source.slice(range.startOffset, range.endOffset));
    });
  }
}
