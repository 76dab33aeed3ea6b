import { curl } from './languages/curl.ts';
import { javaScript, sdk } from './languages/javascript.ts';
import { python } from './languages/python.ts';
import type { ExampleRequest } from './request.ts';

/** An example in one language; `kind` is what a visitor chooses. */
export interface Example {
  readonly kind: Language;
  readonly title: string;
  readonly code: string;
}

export const languages = { curl: 'curl', js: 'JavaScript', python: 'Python' } as const;

export type Language = keyof typeof languages;

/** A request in every language, and with the SDK where it has a call for it. */
export function examplesOf(operationId: string, request: ExampleRequest, baseUrl: string): Example[] {
  const withSdk = sdk(operationId, baseUrl);
  return [
    { kind: 'curl', title: 'curl', code: curl(request) },
    ...(withSdk === undefined ? [] : [{ kind: 'js', title: 'JavaScript, with the SDK', code: withSdk } as const]),
    { kind: 'js', title: withSdk === undefined ? 'JavaScript' : 'JavaScript, by hand', code: javaScript(request) },
    { kind: 'python', title: 'Python', code: python(request) },
  ];
}
