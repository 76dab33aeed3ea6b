import { describe, expect, it } from 'vitest';
import { clientFrames, serverFrames } from '../../src/protocol/frames.ts';
import { feedFrames } from '../../src/protocol/operator/feed.ts';
import { useApps } from '../support/use-apps.ts';
import { complaint, described } from './fake-socket.ts';

const { build } = useApps();

/** Every $ref of a document with its target. */
function references(document: object): readonly (readonly [string, unknown])[] {
  const found: string[] = [];
  JSON.stringify(document, (name, value: unknown) => {
    if (name === '$ref' && typeof value === 'string') found.push(value);
    return value;
  });
  return found.map((reference) => [
    reference,
    reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, step) => (at as Record<string, unknown> | undefined)?.[step], document),
  ]);
}

describe('asyncapi.json', () => {
  it('is served as JSON, with the address of this service', async () => {
    const app = await build();
    const reply = await app.get('/asyncapi.json');
    expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8' } });
    expect(reply.body).toMatchObject({
      asyncapi: '3.0.0',
      servers: { node: { host: 'localhost:3000', protocol: 'ws' } },
      channels: { heartbeat: { address: '/api/realtime/socket' }, feed: { address: '/api/operator/feed' } },
    });
  });

  it('names wss for a service behind TLS', () => {
    expect(described).toMatchObject({ servers: { node: { host: 'voice.example', protocol: 'wss' } } });
  });

  it('describes every frame of both sides', () => {
    const names = [
      ...Object.keys(clientFrames).map((name) => `client.${name}`),
      ...Object.keys(serverFrames).map((name) => `server.${name}`),
      'operator.watch',
      ...Object.keys(feedFrames).map((name) => `feed.${name}`),
    ];
    expect(Object.keys(described.components.messages)).toEqual(names);
    for (const { name, payload } of Object.values(described.components.messages)) {
      const shapes = 'anyOf' in payload ? (payload.anyOf as object[]) : [payload];
      for (const shape of shapes)
        expect(shape).toMatchObject({ type: 'object', properties: { type: { const: name } } });
    }
  });

  it('has no dangling references, and its operations refer only to messages of the channel', () => {
    const found = references(described);
    expect(found.length).toBeGreaterThan(20);
    for (const [reference, target] of found) expect(target, reference).toBeDefined();
  });

  it('says of each frame of the feed when it is sent', () => {
    const told = Object.entries(described.operations).filter(([name]) => name.startsWith('tell.'));
    const names = Object.keys(feedFrames);
    expect(new Set(told.map(([name]) => name))).toEqual(new Set(names.map((name) => `tell.${name}`)));
    for (const [name, { messages }] of told)
      expect(messages).toEqual([{ $ref: `#/channels/feed/messages/feed.${name.slice('tell.'.length)}` }]);
  });

  it('uses only names that the standard allows', () => {
    for (const name of Object.keys(described.components.messages)) expect(name).toMatch(/^[A-Za-z0-9_.-]+$/);
  });

  it('tells good frames from bad ones', () => {
    expect(complaint('client', { type: 'heartbeat', idleSec: 3, id: 'x', more: 1 })).toBeUndefined();
    expect(complaint('client', { type: 'heartbeat', idleSec: -1 })).toMatch(/idleSec/);
    expect(complaint('client', { type: 'usage', tokens: 1, dollars: 1 })).toMatch(/id/);
    expect(complaint('server', { type: 'state', state: 'asleep' })).toMatch(/state/);
    expect(complaint('server', { type: 'nothing' })).toBe('is not described');
  });
});
