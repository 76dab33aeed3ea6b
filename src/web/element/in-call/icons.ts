/** Icons that only a conversation needs, in the same form as the element's. */
export const talkIcons = {
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M5 12l5 5 9-10',
  star: 'M12 4l2.5 5 5.5.8-4 3.9 1 5.5-5-2.6-5 2.6 1-5.5-4-3.9 5.5-.8z',
} as const;
