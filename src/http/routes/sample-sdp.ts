const lines = (...text: readonly string[]): string => text.map((line) => `${line}\r\n`).join('');

/** The shortest offer of a browser's kind, for the interface description. */
export const exampleOffer = lines(
  'v=0',
  'o=- 4611731400430051336 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'c=IN IP4 0.0.0.0',
  'a=mid:0',
  'a=sendrecv',
  'a=rtpmap:111 opus/48000/2',
);

/** An answer to it. */
export const exampleAnswer = exampleOffer.replace('4611731400430051336 2', '7614219274584779017 2');
