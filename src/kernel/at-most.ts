import { deadline } from './deadline.ts';

/** Resolves when the work has, and after `ms` at the latest. @throws what the work throws within that time */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let callOff = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    callOff = deadline(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    callOff();
  }
}
