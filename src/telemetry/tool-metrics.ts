import { Counter, Histogram, type Registry } from 'prom-client';

/** Tools that get a label of their own: tenants may define any number of them. */
const MAX_LABELS = 100;

/** The metrics of server tools. */
export class ToolMetrics {
  readonly forged: Counter;
  readonly #calls: Counter<'tool' | 'code'>;
  readonly #seconds: Histogram<'code'>;
  readonly #labels = new Set<string>();

  constructor(registers: Registry[]) {
    this.#calls = new Counter({
      name: 'switchboard_tool_calls_total',
      help: 'Calls of tools of the server, by how they ended; beyond 100 tools the tool is "other"',
      labelNames: ['tool', 'code'],
      registers,
    });
    this.forged = new Counter({
      name: 'switchboard_tool_answers_forged_total',
      help: 'Answers to tools of the server that a page gave or took out',
      registers,
    });
    this.#seconds = new Histogram({
      name: 'switchboard_tool_call_seconds',
      help: 'Time from the asking for a tool of the server to its end',
      labelNames: ['code'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32],
      registers,
    });
  }

  count(tool: string, code: string, ms: number): void {
    if (this.#labels.size < MAX_LABELS) this.#labels.add(tool);
    this.#calls.inc({ tool: this.#labels.has(tool) ? tool : 'other', code });
    this.#seconds.observe({ code }, ms / 1000);
  }
}
