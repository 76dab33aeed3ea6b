import { post, type Post, type PostReply } from './post.ts';

export interface JsonPost extends Omit<Post, 'body'> {
  readonly body: unknown;
}

export interface JsonReply extends Omit<PostReply, 'text'> {
  /** `undefined` when the body is not JSON. */
  readonly body: unknown;
}

/** A `post` of JSON that is answered by JSON. @throws PostFailure */
export async function postJson(json: JsonPost): Promise<JsonReply> {
  const { status, headers, text } = await post({
    ...json,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...json.headers },
    body: JSON.stringify(json.body),
  });
  return { status, headers, body: parseJson(text) };
}

/** @returns `undefined` for what is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
