/** The parts of the way of a request that can say no, for whoever does not know them by heart. */
const LAYERS: Readonly<Record<string, string>> = {
  edge: 'the edge, before anything was looked at',
  body: 'the body and the fields of the request',
  key: 'the widget key',
  origin: 'the origin of the page',
  agent: 'what the key allows of agents',
  bot: 'the bot verdict',
  minute: 'the limit of a minute',
  quota: 'the quota of the day',
  slot: 'how many may be open at once',
  mint: 'the voice provider',
  proof: 'the proof that the session is the caller’s',
  machine: 'the rules of the session',
  login: 'who is logged in, and what they may',
  service: 'the service itself',
};

export function layerWords(layer: string): string {
  return LAYERS[layer] ?? layer;
}

/** What kind of thing a lever is: variables are written in capitals, and may stand beside the field that overrules them. */
export function leverWords(lever: string): string {
  if (lever.includes(' ')) return '';
  if (lever === 'admins') return 'a field of the tenant';
  return /^[A-Z0-9_]+$/.test(lever) ? 'a variable' : 'a field of the widget key';
}
