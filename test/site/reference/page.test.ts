import { describe, expect, test } from 'vitest';
import { variables } from '../../../config/variables.ts';
import { describeChannel } from '../../../src/channel/asyncapi.ts';
import { SOCKET_PATH, SUBPROTOCOL } from '../../../src/http/routes/socket.ts';
import { apiDocument } from '../../../src/http/routes/all.ts';
import { ERROR_CODES } from '../../../src/protocol/errors/error-codes.ts';
import { channelsOf } from '../../../src/site/reference/channels.ts';
import { exampleOf, endpointsOf, type AsyncApi, type OpenApi } from '../../../src/site/reference/document.ts';
import { groupsOf, referencePages, referencePath } from '../../../src/site/reference/groups.ts';
import { writeReference, writeStart } from '../../../src/site/reference/page.ts';
import { clientFrames } from '../../../src/protocol/frames.ts';

const baseUrl = 'https://voice.example.com';
const openapi = apiDocument(baseUrl) as OpenApi;
const asyncapi = describeChannel(
  { serverUrl: baseUrl, path: SOCKET_PATH, subprotocol: SUBPROTOCOL },
  '0.0.0',
) as AsyncApi;
const described = { openapi, asyncapi, baseUrl };
const pages = new Map([
  ['/docs', writeStart(described)],
  ...referencePages.map((page) => [referencePath(page), writeReference(page, described)] as const),
]);
const entries = [...pages.values()].map(({ text }) => text.text).join('');

const idsOf = (text: string): string[] => [...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id);
const operations = endpointsOf(openapi).map(({ operation }) => operation.operationId);

/** The entry with this id. */
function entry(id: string): string {
  const from = entries.indexOf(`<article class="entry" id="${id}">`);
  expect(from, id).toBeGreaterThan(0);
  const text = entries.slice(from, entries.indexOf('</article>', from));
  return text.replaceAll(/\s+/g, ' ').replaceAll(' >', '>').replaceAll('> <', '><');
}

describe('The API reference', () => {
  test('has every operation on one page, whose address the index of the first page leads to', () => {
    expect(operations.length).toBeGreaterThan(30);
    const start = pages.get('/docs')?.text.text ?? '';
    for (const endpoint of endpointsOf(openapi)) {
      const { operationId } = endpoint.operation;
      const [group, ...others] = groupsOf(endpoint);
      expect([operationId, group, others]).toEqual([operationId, expect.anything(), []]);
      const path = referencePath({ id: group?.id ?? '' });
      expect(idsOf(pages.get(path)?.text.text ?? '')).toContain(operationId);
      expect(start).toContain(`<li id="${operationId}"><a href="${path}#${operationId}">`);
    }
  });

  test('names each entry once on a page, and leads nowhere that is not there', () => {
    for (const [path, { parts, text }] of pages) {
      const ids = idsOf(text.text);
      expect(ids.length, path).toBe(new Set(ids).size);
      const links = [...(parts.text + text.text).matchAll(/href="(?:(\/docs[^"#]*))?#([^"]+)"/g)];
      for (const [, to = path, id = ''] of links) expect(idsOf(pages.get(to)?.text.text ?? ''), to).toContain(id);
      const listed = [...parts.text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
      expect(listed, path).toEqual([...text.text.matchAll(/<article class="entry" id="([^"]+)"/g)].map(([, id]) => id));
    }
  });

  test('shows the same request in curl, in JavaScript and in Python for every operation', () => {
    for (const id of operations) {
      const kinds = ['curl', 'js', 'python'].filter((kind) => !entry(id).includes(`only-${kind}`));
      expect(kinds, id).toEqual([]);
    }
  });

  test('tells types, limits and descriptions of fields, and folds those of fields', () => {
    const create = entry('createSession');
    expect(create).toMatch(
      /<code class="name">email<\/code><span class="type">string<\/span><span class="limits">at most 254 characters/,
    );
    expect(create).toContain('Identifies the user, who then has limits of their own');
    expect(create).toMatch(/<summary>Fields of <code>tools<\/code><\/summary><ul class="fields">/);
    expect(entry('sendHeartbeat')).toMatch(
      /<code class="name">sm_session_id<\/code>.*?<span class="required">required/,
    );
    expect(entry('listSessions')).toMatch(/<code class="name">limit<\/code>.*?1 to 200, default 50/);
  });

  test('shows the replies with their examples, and leads from each error to what helps', () => {
    const create = entry('createSession');
    expect(create).toContain('Reply 200');
    expect(create).toContain('"client_secret"');
    expect(create).toContain('<a href="/docs/reference/errors#ORIGIN_MISMATCH">403 <code>ORIGIN_MISMATCH</code></a>');
  });

  test('is no place for what a description holds to become markup', () => {
    const hostile = structuredClone(openapi) as { info: { description: string } } & OpenApi;
    hostile.info.description = '<script>alert(1)</script>';
    expect(writeStart({ openapi: hostile, asyncapi, baseUrl }).text.text).not.toContain('<script>alert');
  });

  test('needs no style and no script of its own within it: the policy of pages forbids both', () => {
    expect(entries).not.toMatch(/ style=| on\w+="|<script|<style/);
  });
});

describe('An entry of an error', () => {
  const all = Object.keys(ERROR_CODES) as (keyof typeof ERROR_CODES)[];

  test.each(all)('says of %s when, why and what to do, and shows one', (code) => {
    const text = entry(code);
    const { status, example } = ERROR_CODES[code];
    expect(text).toContain(`<span class="type">${status}</span>`);
    expect(text).toContain('What to do');
    expect(text.match(/<li>/g)?.length ?? 0).toBeGreaterThanOrEqual(ERROR_CODES[code].causes.length);
    expect(text.replaceAll('&#39;', "'")).toContain(example.error.replaceAll('"', String.raw`\"`));
  });

  test('names no variable that the service does not have', () => {
    const known = new Set<string>(variables.map(({ name }) => name));
    const named = Object.values(ERROR_CODES).flatMap(
      ({ causes }) => causes.join(' ').match(/\b[A-Z]+_[A-Z_]+\b/g) ?? [],
    );
    expect(named.length).toBeGreaterThan(3);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('The frames of the sockets', () => {
  const channels = channelsOf(asyncapi);

  test('are all there, with their fields and an example', () => {
    const frames = channels.flatMap((channel) => channel.frames.map(({ id }) => id));
    expect(frames.toSorted()).toEqual(Object.keys(asyncapi.components.messages).toSorted());
    for (const id of frames) expect(entry(id)).toContain('<ul class="fields">');
  });

  test('that clients send are such as the server reads', () => {
    const sent = channels.flatMap(({ frames }) => frames).filter(({ id }) => id.startsWith('client.'));
    expect(sent.length).toBe(Object.keys(clientFrames).length);
    for (const { type, payload } of sent)
      expect(
        clientFrames[type as keyof typeof clientFrames].safeParse(exampleOf(payload, {})).error,
        type,
      ).toBeUndefined();
  });
});
