export interface OpenAiError {
  readonly status: number;
  readonly error: { message: string; type: string; param: string | null; code: string | null };
}

export function invalid(
  status: number,
  message: string,
  param: string | null,
  code: string | null = null,
): OpenAiError {
  return { status, error: { message, type: 'invalid_request_error', param, code } };
}

/** OpenAI really repeats the key in its message. */
export function invalidKey(key: string): OpenAiError {
  return invalid(401, `Incorrect API key provided: ${key}.`, null, 'invalid_api_key');
}

export const unknownCall = (status = 404): OpenAiError =>
  invalid(status, 'No session with that call_id was found.', 'call_id', 'call_id_not_found');
/** A 404 that names the call but does not carry the usual code. */
export const unknownNamed = (id: string): OpenAiError => invalid(404, `There is no session ${id}.`, null, 'not_found');
/** OpenAI's answer for a path that does not exist. */
export const wrongPath = (path: string): OpenAiError => invalid(404, `Invalid URL (POST ${path})`, null);
export const rateLimited: OpenAiError = {
  status: 429,
  error: { message: 'Rate limit reached.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
};
export const broken: OpenAiError = {
  status: 500,
  error: { message: 'The server had an error.', type: 'server_error', param: null, code: null },
};
