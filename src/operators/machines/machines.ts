import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AnyStateMachine } from 'xstate';
import { budgetMachine } from '../../../machines/budget/machine.ts';
import { createAuthSessionMachine } from '../../../machines/auth-session/machine.ts';
import { otpChallengeMachine } from '../../../machines/otp-challenge/machine.ts';
import { heldCallMachine } from '../../../machines/held-call/machine.ts';
import { toolCallMachine } from '../../../machines/tool-call/machine.ts';
import { createVoiceCallMachine } from '../../../machines/voice-call/machine.ts';
import { createVoiceSessionMachine } from '../../../machines/voice-session/machine.ts';
import { webhookEndpointMachine } from '../../../machines/webhook-endpoint/machine.ts';
import type { Charts, OperatorMachine } from '../../protocol/operator/machine.ts';
import { machineWords, type DrawnMachine, type MachineLimits } from './labels.ts';

/** Beside the bundle after a build; when the sources run directly, those of the last build. */
const drawn = new URL(import.meta.url.endsWith('.ts') ? '../../../dist/charts.json' : './charts.json', import.meta.url);

/** A machine and the wording of its events and guards, from which its charts are drawn. */
export interface MachineWithWords {
  readonly machine: AnyStateMachine;
  readonly words: Readonly<Record<string, string>>;
}

/** The machines whose events operators are shown. */
export function journaledMachines(limits: MachineLimits): MachineWithWords[] {
  return [
    createVoiceSessionMachine(limits.voice),
    createVoiceCallMachine(limits.calls),
    otpChallengeMachine,
    createAuthSessionMachine(limits.auth),
  ].map((machine) => withWords(machine, limits));
}

/** These and the machines whose events are not kept: calls that a node holds, tool calls, webhook endpoints, budgets. */
export function drawnMachines(limits: MachineLimits): MachineWithWords[] {
  const others = [heldCallMachine, toolCallMachine, webhookEndpointMachine, budgetMachine];
  return [...journaledMachines(limits), ...others.map((machine) => withWords(machine, limits))];
}

function withWords(machine: AnyStateMachine, limits: MachineLimits): MachineWithWords {
  return { machine, words: machineWords(machine.id as DrawnMachine, limits) };
}

/** The machines as operators see them: their rules, and the charts that the build has drawn. */
export function describeMachines(limits: MachineLimits): { readonly machines: OperatorMachine[] } {
  const charts = JSON.parse(readFileSync(drawn, 'utf8')) as Readonly<Record<string, Charts>>;
  const machines = drawnMachines(limits).map(({ machine, words }) => {
    const { [machine.id]: chartsOfIt } = charts;
    if (chartsOfIt === undefined) throw new Error(`the build has drawn no chart of ${machine.id}`);
    const definition = machine.config as unknown as Record<string, unknown>;
    const version = createHash('sha256').update(JSON.stringify(definition)).digest('hex').slice(0, 12);
    return { id: machine.id, version, definition, charts: chartsOfIt, words };
  });
  return { machines };
}
