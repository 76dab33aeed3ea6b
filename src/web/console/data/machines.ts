/** The rules of the machines. They change only with the service's version, so they are read once. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { OperatorMachine, operatorMachines } from '../../../protocol/operator/machine.ts';
import { get } from './api.ts';
import type { Output } from './shapes.ts';

const machines = signal<readonly OperatorMachine[] | undefined>(undefined);
/** Whether the first reading has finished. Pages wait for it, so that a chart that arrives late does not move the text being read. */
const wereRead = signal(false);
let reading: Promise<unknown> | undefined;

async function read(): Promise<void> {
  const answer = await get<Output<typeof operatorMachines>>('/api/operator/machines');
  if (answer.ok) machines.value = answer.body.machines;
  // The next view that needs the rules asks again.
  else reading = undefined;
  wereRead.value = true;
}

/** Reads the rules. @returns whether that has finished, successfully or not */
export function useMachinesRead(): boolean {
  useEffect(() => {
    reading ??= read();
  }, []);
  return wereRead.value;
}

/** One machine by its id; undefined until it is known. */
export function useMachine(id: string): OperatorMachine | undefined {
  useMachinesRead();
  return machines.value?.find((machine) => machine.id === id);
}

const NO_WORDS: Readonly<Record<string, string>> = {};

/** The words for a machine's events and guards. What has no words is shown by its own name. */
export function useWords(id: string): (name: string) => string {
  const words = useMachine(id)?.words ?? NO_WORDS;
  return (name) => words[name] ?? name;
}
