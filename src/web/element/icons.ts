/** The element's icons, as strokes, 24 by 24. */
export const icons = {
  voice: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 10v4',
  close: 'M6 6l12 12M18 6L6 18',
  captions: 'M3 5h18v14H3zM7 11h4M14 11h3M7 15h7M17 15h0',
  microphone: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4',
  muted: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4M4 3l16 18',
  end: 'M3 16c0-8 18-8 18 0l-5-1v-3q-4-1-8 0v3z',
  send: 'M5 12h13M12 6l6 6-6 6',
  interrupt: 'M7 7h10v10H7z',
  warning: 'M12 4l9 16H3zM12 10v4M12 17h0',
} as const;

/** Icons that only a conversation needs, in the same form as the element's. */
export const talkIcons = {
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M5 12l5 5 9-10',
  star: 'M12 4l2.5 5 5.5.8-4 3.9 1 5.5-5-2.6-5 2.6 1-5.5-4-3.9 5.5-.8z',
} as const;
