/** The rules of the machines: they change only with the version of the service, and are read once. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OperatorMachine, operatorMachines } from '../../../protocol/operator/machine.ts';
import { get } from './api.ts';
import type { Output } from './shapes.ts';

const machines = signal<readonly OperatorMachine[] | undefined>(undefined);
/** Whether they were asked for once: a page whose chart comes later than its words would move under whoever reads. */
const wereRead = signal(false);
let reading: Promise<unknown> | undefined;

async function read(): Promise<void> {
  const answer = await get<Output<typeof operatorMachines>>('/api/operator/machines');
  if (answer.ok) machines.value = answer.body.machines;
  // The next view that needs them asks again.
  else reading = undefined;
  wereRead.value = true;
}

/** Reads them, and says whether they are there, or could not be read. */
export function useMachinesRead(): boolean {
  useEffect(() => {
    reading ??= read();
  }, []);
  return wereRead.value;
}

/** One machine by its id, as soon as it is known. */
export function useMachine(id: string): OperatorMachine | undefined {
  useMachinesRead();
  return machines.value?.find((machine) => machine.id === id);
}

const NO_WORDS: Readonly<Record<string, string>> = {};

/** What the events and guards of a machine are called; what has no word is shown by its own name. */
export function useWords(id: string): (name: string) => string {
  const words = useMachine(id)?.words ?? NO_WORDS;
  return (name) => words[name] ?? name;
}
