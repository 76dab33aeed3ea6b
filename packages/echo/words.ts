/** What a page says to the echo in words: of the items of OpenAI's realtime API, a text of the visitor and the answer of a tool. */
export interface Item {
  readonly type?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly call_id?: unknown;
  readonly output?: unknown;
}

/** What the echo says to it. */
export type Reply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly arguments: string };

/**
 * Says a text back, and asks for a tool where the text begins with its name (`lookup {"id": 7}`), or has all the words that its name is made
 * of: "When are your opening hours?" asks for `get_opening_hours`.
 */
export function replyTo(text: string, toolNames: readonly string[]): Reply {
  const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
  if (toolNames.includes(name)) return { type: 'call', name, arguments: isJson(rest) ? rest : '{}' };
  const meant = toolNames.find((each) => isMeant(each, text));
  return meant === undefined ? { type: 'text', text } : { type: 'call', name: meant, arguments: '{}' };
}

/** Shorter ones, such as "get", say nothing of what a tool is for; a single word is in too many texts. */
function isMeant(toolName: string, text: string): boolean {
  const said = new Set(text.toLowerCase().match(/[a-z0-9]+/g));
  const words = toolName
    .toLowerCase()
    .split(/[_-]+/)
    .filter(({ length }) => length > 3);
  return words.length > 1 && words.every((word) => said.has(word));
}

/** The words of an item; undefined for one that the echo does not understand. */
export function wordsOf({ type, content, call_id, output }: Item): string | undefined {
  if (type === 'function_call_output')
    return typeof call_id === 'string' ? `The tool says: ${String(output)}` : undefined;
  if (type !== 'message' || !Array.isArray(content)) return undefined;
  const parts = content as readonly { readonly type?: unknown; readonly text?: unknown }[];
  const texts = parts.flatMap((part) =>
    part?.type === 'input_text' && typeof part.text === 'string' ? [part.text] : [],
  );
  return texts.length > 0 ? texts.join(' ') : undefined;
}

/** Whether a text is what was said in a call before, for the memory of a model: the echo has none, and does not say it back. */
export function isRecap(text: string): boolean {
  return text.startsWith('What was said before in this conversation');
}

/** What a model is to say while a tool takes long, of a text of the system that says so. */
export function asideOf({ role }: Item, text: string): string | undefined {
  return role === 'system' ? /Until then say only: (.+)$/s.exec(text)?.[1] : undefined;
}

/** What the echo says when nobody said anything: the words that its instructions name, as it knows no other instructions. */
export function sayUnasked(instructions: string | undefined): string {
  const [, words] = /^Say exactly: (.+)$/s.exec(instructions ?? '') ?? [];
  return words ?? 'Hello. I am an echo: I say back what I hear.';
}

/** What stands for words that were spoken: the echo has no ears for them. */
export function describeSpeech(ms: number): string {
  return `(${(ms / 1000).toFixed(1)} s of speech)`;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
