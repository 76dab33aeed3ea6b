import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import type * as Api from './api.ts';
import { createSessionStore } from './session-store.ts';

/** Holds one session at a time; see api.ts. */
export const useSwitchboard: typeof Api.useSwitchboard = (options) => {
  const latest = useRef(options);
  const [{ shown, subscribe, verbs }] = useState(() => createSessionStore(() => latest.current));
  useEffect(() => {
    latest.current = options;
  });
  // In development React leaves and comes back once: what nobody started is not ended by it, and can be started afterwards.
  useEffect(() => () => void verbs.end(), [verbs]);
  return { ...useSyncExternalStore(subscribe, shown, shown), ...verbs };
};
