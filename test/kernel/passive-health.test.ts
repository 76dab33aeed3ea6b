import { describe, expect, test } from 'vitest';
import { PassiveHealth } from '../../src/kernel/passive-health.ts';

const fault = new Error('no');

function turned() {
  let now = 1_000_000;
  const health = new PassiveHealth(() => now);
  const times = (n: number, work: () => void): void => Array.from({ length: n }).forEach(work);
  return {
    health,
    pass: (ms: number): void => void (now += ms),
    serve: (n: number): void => times(n, () => health.served()),
    refuse: (n: number): void => times(n, () => health.refused(fault)),
  };
}

describe('What work gets from a dependency', () => {
  test('is nothing to tell of before any, and where all goes well', () => {
    const { health, serve } = turned();
    expect(health.failure()).toBeUndefined();
    serve(1000);
    expect(health.failure()).toBeUndefined();
  });

  test('is a failure when most of it is refused, and not by a chance of two', () => {
    const { health, serve, refuse } = turned();
    refuse(2);
    expect(health.failure()).toBeUndefined();
    refuse(1);
    expect(health.failure()).toBe(fault);
    serve(3);
    expect(health.failure()).toBeUndefined();
    refuse(1);
    expect(health.failure()).toBe(fault);
  });

  test('counts for eight seconds', () => {
    const { health, pass, serve, refuse } = turned();
    serve(100);
    pass(7999);
    refuse(3);
    expect(health.failure()).toBeUndefined();
    pass(1);
    expect(health.failure()).toBe(fault);
  });

  test('is a failure no more when nothing was refused for two seconds', () => {
    const { health, pass, serve, refuse } = turned();
    refuse(1000);
    pass(1999);
    serve(1);
    expect(health.failure()).toBe(fault);
    pass(1);
    expect(health.failure()).toBeUndefined();
  });

  test('is a failure for eight seconds after a write was refused, however much is read beside', () => {
    const { health, pass, serve } = turned();
    serve(1000);
    health.refused(fault, true);
    serve(1000);
    expect(health.failure()).toBe(fault);
    pass(7999);
    serve(1000);
    expect(health.failure()).toBe(fault);
    pass(1);
    expect(health.failure()).toBeUndefined();
  });

  test('keeps no more than the seconds that count', () => {
    const { health, pass, serve, refuse } = turned();
    refuse(3);
    for (let second = 0; second < 60; second += 1) {
      pass(1000);
      serve(1);
    }
    refuse(7);
    expect(health.failure()).toBeUndefined();
    refuse(2);
    expect(health.failure()).toBe(fault);
  });
});
