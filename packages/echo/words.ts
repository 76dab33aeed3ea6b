/** A text for the echo as an item of OpenAI's realtime API: a message of the visitor, or a tool's answer. */
export interface Item {
  readonly type?: unknown;
  readonly role?: unknown;
  readonly content?: unknown;
  readonly call_id?: unknown;
  readonly output?: unknown;
}

/** How the echo replies to a text. */
export type Reply =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly arguments: string };

/**
 * Repeats a text, or calls a tool: one whose name the text begins with (`lookup {"id": 7}`), or one whose name consists of words that are all in
 * the text: "When are your opening hours?" calls `get_opening_hours`.
 */
export function replyTo(text: string, toolNames: readonly string[]): Reply {
  const [, name = '', rest = ''] = /^(\S+)\s*(.*)$/s.exec(text.trim()) ?? [];
  if (toolNames.includes(name)) return { type: 'call', name, arguments: isJson(rest) ? rest : '{}' };
  const meant = toolNames.find((each) => isMeant(each, text));
  return meant === undefined ? { type: 'text', text } : { type: 'call', name: meant, arguments: '{}' };
}

/** Ignores short words such as "get", which do not say what a tool is for, and names of a single word, which is in too many texts. */
function isMeant(toolName: string, text: string): boolean {
  const said = new Set(text.toLowerCase().match(/[a-z0-9]+/g));
  const words = toolName
    .toLowerCase()
    .split(/[_-]+/)
    .filter(({ length }) => length > 3);
  return words.length > 1 && words.every((word) => said.has(word));
}

/** The text of an item; undefined for an item that the echo does not understand. */
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

/** Whether a text recaps an earlier call for a model's memory. The echo has no memory, and does not repeat it. */
export function isRecap(text: string): boolean {
  return text.startsWith('What was said before in this conversation');
}

/** What to say while a tool takes long, if a text of the system asks for that. */
export function asideOf({ role }: Item, text: string): string | undefined {
  return role === 'system' ? /Until then say only: (.+)$/s.exec(text)?.[1] : undefined;
}

/** What the echo says if nobody has said anything: the words that the instructions name. It does not follow any other instructions. */
export function sayUnasked(instructions: string | undefined): string {
  const [, words] = /^Say exactly: (.+)$/s.exec(instructions ?? '') ?? [];
  return words ?? 'Hello. I am an echo: I say back what I hear.';
}

/** Stands for the words that the echo repeats, which it does not recognise. */
export function describeSpeech(ms: number): string {
  return `(${lengthOf(ms)} of speech)`;
}

/** Stands for the words of a visitor, where the session asks for a transcript. */
export function describeHeard(ms: number): string {
  return `(${lengthOf(ms)} of speech, which the echo does not transcribe)`;
}

function lengthOf(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

/** A text in the parts in which a provider sends it. */
export function wordByWord(text: string): readonly string[] {
  return text.match(/\S+\s*/g) ?? [];
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}
