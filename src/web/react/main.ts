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
  // In development React unmounts and remounts once. That ends nothing, because nothing is started yet, and starting still works afterwards.
  useEffect(() => () => void verbs.end(), [verbs]);
  return { ...useSyncExternalStore(subscribe, shown, shown), ...verbs };
};
