import { afterEach, describe, expect, test } from 'vitest';
import { realtimeProviders, StandInBench } from './benches.ts';
import { callRequest, noAbort, setup } from './brokered-suite.ts';
import { Heard } from './heard.ts';

let bench: StandInBench;

afterEach(() => bench.close());

const usage = {
  total_tokens: 153,
  input_tokens: 132,
  output_tokens: 21,
  input_token_details: {
    text_tokens: 119,
    audio_tokens: 13,
    image_tokens: 0,
    cached_tokens: 64,
    cached_tokens_details: { text_tokens: 64, audio_tokens: 0, image_tokens: 0 },
  },
  output_token_details: { text_tokens: 6, audio_tokens: 15 },
};
const tokens = {
  textIn: 55,
  textCached: 64,
  textOut: 6,
  audioIn: 13,
  audioCached: 0,
  audioOut: 15,
  imageIn: 0,
  imageCached: 0,
};

describe.each(Object.keys(realtimeProviders))('The realtime API at %s', (name) => {
  async function listen() {
    bench = await StandInBench.open(name);
    return bench.listen();
  }

  test('is asked for a call with everything that it was to be created with', async () => {
    bench = await StandInBench.open(name);
    const parameters = { type: 'object', properties: {} };
    const tools = [{ kind: 'http_tool', name: 'weather', parameters, url: 'https://internal' }];
    await bench.provider.createCall(callRequest(bench.offerSdp, { tools }));
    const { terms } = bench.standIn.lastCall;
    expect(terms.offer).toBe(bench.offerSdp);
    expect(terms.session).toEqual({
      type: 'realtime',
      model: 'gpt-realtime-2.1',
      instructions: 'Be kind.',
      audio: { output: { voice: 'marin' } },
      tools: [{ type: 'function', name: 'weather', parameters }],
      max_output_tokens: 1000,
      truncation: {
        type: 'retention_ratio',
        retention_ratio: 0.8,
        token_limits: { post_instructions: 12_000 },
      },
    });
    expect(terms.headers).toMatchObject({ 'openai-safety-identifier': 'ab12' });
    await bench.provider.createCall(callRequest(bench.offerSdp, { maxOutputTokens: undefined }));
    expect(bench.standIn.lastCall.terms.session).not.toHaveProperty('max_output_tokens');
  });

  test('is silent when it is attached to, so that an update that changes nothing is the first thing said', async () => {
    const { call } = await listen();
    expect(call.heard).toEqual([
      { type: 'session.update', event_id: 'sb_update', session: { type: 'realtime', max_output_tokens: 1000 } },
    ]);
  });

  test('tells what responses cost, by the classes that are billed, under their ids', async () => {
    const { call, heard } = await listen();
    call.respond(usage, 'resp_1');
    expect(await heard.next('usage')).toEqual({ type: 'usage', key: 'resp_1', model: undefined, tokens });
    call.respond(usage, 'resp_1');
    expect(await heard.next('usage', 2)).toEqual(heard.of('usage')[0]);
  });

  test.each([
    ['none', undefined],
    ['null', null],
    ['a word', 'free'],
    ['nothing in it', {}],
    ['negative tokens', { input_tokens: -1, output_tokens: 1 }],
    ['a fraction of a token', { input_tokens: 1.5, output_tokens: 1 }],
    ['tokens beyond all measure', { input_tokens: 1, output_tokens: 100_000_001 }],
    ['more cached tokens than tokens', { ...usage, input_token_details: { cached_tokens: 133 } }],
    ['more parts than the whole', { ...usage, input_tokens: 100 }],
    ['no output', { input_tokens: 1 }],
  ])('has usage that is dropped whole when it is %s', async (_, unreadable) => {
    const { call, heard } = await listen();
    call.respond(unreadable, 'resp_1');
    expect(await heard.next('usageUnreadable')).toEqual({ type: 'usageUnreadable', key: 'resp_1' });
    expect(heard.of('usage')).toEqual([]);
  });

  test('is free where a response failed without usage, unknown where it was cut off, and a gap where it was not', async () => {
    const { call, heard } = await listen();
    for (const status of ['failed', 'cancelled', 'incomplete']) {
      call.beginResponse(undefined, `resp_${status}`);
      call.finishResponse(status);
    }
    await heard.next('responseDone', 3);
    expect(heard.of('responseDone').map(({ id, isTold }) => [id, isTold])).toEqual([
      ['resp_failed', true],
      ['resp_cancelled', false],
      ['resp_incomplete', true],
    ]);
    expect(heard.of('usageUnreadable')).toEqual([{ type: 'usageUnreadable', key: 'resp_incomplete' }]);
  });

  test('tells how a response begins: whether in the conversation, how long it may be, and what it is made of', async () => {
    const { call, heard } = await listen();
    call.fromPage({ type: 'response.create' });
    const beside = { conversation: 'none', max_output_tokens: 'inf', output_modalities: ['text'] };
    call.fromPage({ type: 'response.create', response: beside });
    await heard.next('responseStarted', 2);
    expect(heard.of('responseStarted')).toMatchObject([
      { isInConversation: true, maxOutputTokens: 1000, grantedTokens: 1000, modality: 'audio' },
      { isInConversation: false, maxOutputTokens: Infinity, grantedTokens: 1000, modality: 'text' },
    ]);
  });

  test('lets a response have the former bound until the provider tells the new one', async () => {
    const { call, heard, sideband } = await listen();
    call.answers = false;
    sideband.limitResponses(300);
    call.beginResponse(usage, 'resp_before');
    expect((await heard.next('responseStarted')).grantedTokens).toBe(1000);
    call.answers = true;
    sideband.limitResponses(300);
    await expect.poll(() => call.session['max_output_tokens']).toBe(300);
    call.beginResponse(usage, 'resp_after');
    expect((await heard.next('responseStarted', 2)).grantedTokens).toBe(300);
  });

  test('tells what the conversation holds, by its size', async () => {
    const { call, heard } = await listen();
    const item = {
      id: 'item_1',
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: 'x'.repeat(4000) }],
    };
    call.fromPage({ type: 'conversation.item.create', item });
    const { id, tokens } = await heard.next('itemAdded');
    expect(id).toBe('item_1');
    expect(tokens).toBeGreaterThan(1000);
    expect(tokens).toBeLessThan(1100);
  });

  test.each([undefined, 7, '', 'a b', 'x'.repeat(129)])(
    'has usage that cannot be counted where the response has the id %j',
    async (id) => {
      const { call, heard } = await listen();
      call.emit({ type: 'response.done', response: { id, status: 'completed', usage } });
      expect(await heard.next('usageUnreadable')).toEqual({ type: 'usageUnreadable', key: undefined });
    },
  );

  test('bills transcriptions by the model that the session names, in tokens or in time', async () => {
    const { call, heard, sideband } = await listen();
    const type = 'conversation.item.input_audio_transcription.completed';
    const said = { type, item_id: 'item_1', content_index: 0, transcript: 'Hello.' };
    call.session = { ...call.session, audio: { input: { transcription: { model: 'whisper-1' } } } };
    sideband.limitResponses(500);
    await expect.poll(() => call.heard.length).toBe(2);
    call.emit({ ...said, usage: { type: 'duration', seconds: 1.2345 } });
    expect(await heard.next('usageTime')).toEqual({
      type: 'usageTime',
      key: 'item_1:0',
      model: 'whisper-1',
      ms: 1235,
    });
    call.emit({
      ...said,
      content_index: 1,
      usage: { type: 'tokens', input_tokens: 14, input_token_details: { audio_tokens: 14 }, output_tokens: 5 },
    });
    expect(await heard.next('usage')).toMatchObject({
      key: 'item_1:1',
      model: 'whisper-1',
      tokens: { audioIn: 14, textOut: 5, audioOut: 0 },
    });
    call.emit({ ...said, usage: { type: 'duration', seconds: -1 } });
    expect(await heard.next('usageUnreadable')).toEqual({ type: 'usageUnreadable', key: 'item_1:0' });
    call.emit({ type, usage: { type: 'duration', seconds: 1 } });
    expect(await heard.next('usageUnreadable', 2)).toEqual({ type: 'usageUnreadable', key: undefined });
  });

  test('never loses usage to words that a page put into an event', async () => {
    const { call, heard } = await listen();
    const metadata = { type: 'x_audio.delta', padding: 'x'.repeat(3000) };
    const evasive = { response: { id: 'resp_1', status: 'completed', usage, metadata: { ...metadata, type: 'y' } } };
    call.emitRaw(`{"type":"response.done",${JSON.stringify(evasive).slice(1, -1)},"z":{"type":"x_audio.delta"}}`);
    expect(await heard.next('usage')).toMatchObject({ key: 'resp_1' });
  });

  test('takes no words or objects of a page for audio, however they are named', async () => {
    const { call, heard } = await listen();
    const object = { type: 'x_audio.y' };
    const long = 'a'.repeat(4000);
    call.emit({
      type: 'response.created',
      response: { id: 'resp_1', conversation_id: null, max_output_tokens: 'inf', metadata: { long, ...object } },
    });
    call.updateFromPage({ instructions: long, tracing: { workflow_name: 'w', metadata: object } });
    call.speechStarted();
    await heard.next('listening');
    expect([...heard.of('responseStarted'), ...heard.of('configChanged')]).toHaveLength(2);
  });

  test('tells who speaks', async () => {
    const { call, heard } = await listen();
    call.speechStarted();
    call.emit({ type: 'output_audio_buffer.started', response_id: 'resp_1' });
    call.emit({ type: 'output_audio_buffer.stopped', response_id: 'resp_1' });
    await heard.next('listening', 2);
    await heard.next('speech', 3);
    expect(
      heard.events.slice(1).map((event) => (event.type === 'speech' ? `${event.who} ${event.isOn}` : event.type)),
    ).toEqual([
      'activity',
      'listening',
      'visitor true',
      'activity',
      'speaking',
      'agent true',
      'listening',
      'agent false',
    ]);
  });

  test('tells its rate limits', async () => {
    const { call, heard } = await listen();
    call.emit({ type: 'rate_limits.updated', rate_limits: [{ name: 'tokens', limit: 9, remaining: 8 }] });
    expect(await heard.next('rateLimit')).toEqual({ type: 'rateLimit', name: 'tokens', remaining: 8 });
  });

  test('is over when it says that its session expired, and nothing follows', async () => {
    const { call, heard, sideband } = await listen();
    call.emit({ type: 'error', error: { type: 'invalid_request_error', code: 'session_expired', message: 'x' } });
    call.respond(usage);
    call.end('expired');
    await sideband.closed;
    expect(heard.events).toEqual([{ type: 'ready' }, { type: 'over', reason: 'expired' }]);
  });

  test('reports errors, of which we keep a word', async () => {
    const { call, heard } = await listen();
    call.emit({ type: 'error', error: { type: 'server_error', code: null, message: 'The key sk-test is wrong.' } });
    call.emit({ type: 'error', error: { code: 'A sentence with sk-test.' } });
    call.emit({ type: 'error' });
    await heard.next('trouble', 3);
    expect(heard.of('trouble').map(({ code }) => code)).toEqual(['server_error', 'error', 'error']);
  });

  test('tells of changes that differ, once until they are taken back, and takes back what we created it with', async () => {
    const { call, heard, sideband } = await listen();
    sideband.limitResponses(300);
    await expect.poll(() => call.session['max_output_tokens']).toBe(300);
    call.updateFromPage({ instructions: 'Be rude.', max_output_tokens: 'inf', truncation: 'disabled' });
    call.updateFromPage({ instructions: 'Be ruder.' });
    expect(await heard.next('configChanged')).toEqual({ type: 'configChanged', isAsSdk: false });
    sideband.restoreConfig();
    await heard.next('configRestored');
    const truncation = { token_limits: { post_instructions: 12_000 } };
    const { instructions } = setup;
    expect(call.session).toMatchObject({
      instructions,
      max_output_tokens: 300,
      tools: [],
      tool_choice: 'auto',
      truncation,
    });
    expect(heard.of('configChanged')).toHaveLength(1);
    call.updateFromPage({ instructions: 'Be rude.' });
    await heard.next('configChanged', 2);
  });

  test.each([
    ['repeats what is so', { instructions: setup.instructions, output_modalities: ['audio'], tools: [] }],
    ['says how it is heard', { audio: { input: { transcription: { model: 'whisper-1' } } }, tracing: 'auto' }],
    ['wants less than it may have', { max_output_tokens: 5 }],
  ])('takes an update for no change that %s', async (_, change) => {
    const { call, heard } = await listen();
    call.updateFromPage(change);
    call.updateFromPage({ instructions: 'Be rude.' });
    await heard.next('configChanged');
    expect(heard.of('configChanged')).toHaveLength(1);
    expect(heard.of('configRestored')).toEqual([]);
  });

  test('knows the update of the provider’s own SDK by what it always sets', async () => {
    const { call, heard } = await listen();
    call.updateFromPage({ instructions: '', audio: { input: { transcription: { model: 'gpt-4o-mini-transcribe' } } } });
    expect(await heard.next('configChanged')).toEqual({ type: 'configChanged', isAsSdk: true });
  });

  test.each([
    ['the SDK says another transcription', { model: 'gpt-transcribe' }, 'gpt-4o-mini-transcribe', true],
    ['the SDK says the very same', { model: 'gpt-4o-mini-transcribe' }, 'gpt-4o-mini-transcribe', true],
    ['a page leaves the transcription as it is', { model: 'gpt-transcribe' }, 'gpt-transcribe', false],
  ])('knows the SDK also where the call transcribes: %s', async (_, transcribe, model, isAsSdk) => {
    bench = await StandInBench.open(name);
    const behaviour = { transcribe };
    await bench.provider.createCall(callRequest(bench.offerSdp, { behaviour }));
    const call = bench.standIn.lastCall;
    const heard = new Heard();
    await bench.provider.attach(call.id, { ...setup, behaviour }, heard.hear, noAbort());
    call.updateFromPage({ instructions: 'Be rude.', audio: { input: { transcription: { model, prompt: null } } } });
    expect(await heard.next('configChanged')).toEqual({ type: 'configChanged', isAsSdk });
  });

  test('takes back what it was created with also while the agent speaks, when its speed cannot change', async () => {
    bench = await StandInBench.open(name);
    const behaviour = { speed: 1.2, noise: 'near' } as const;
    await bench.provider.createCall(callRequest(bench.offerSdp, { behaviour }));
    const call = bench.standIn.lastCall;
    const heard = new Heard();
    const sideband = await bench.provider.attach(call.id, { ...setup, behaviour }, heard.hear, noAbort());
    call.updateFromPage({ instructions: 'Be rude.', audio: { input: {}, output: { voice: 'marin', speed: 0.5 } } });
    call.beginResponse(usage, 'resp_1');
    sideband.restoreConfig();
    await heard.next('configRestored');
    expect(call.session).toMatchObject({
      instructions: setup.instructions,
      audio: { input: { noise_reduction: { type: 'near_field' } }, output: { speed: 0.5 } },
    });
    call.finishResponse();
    sideband.restoreConfig();
    await expect.poll(() => call.session['audio']).toMatchObject({ output: { voice: 'marin', speed: 1.2 } });
  });

  test('takes a spelling of the provider’s own for no change, also when it is heard again', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    const asSent = call.describeSession.bind(call);
    call.describeSession = () => ({ ...asSent(), truncation: { type: 'retention_ratio', spelled: 'otherwise' } });
    for (const isPutBack of [false, true]) {
      const heard = new Heard();
      await bench.provider.attach(call.id, { ...setup, isPutBack }, heard.hear, noAbort());
      expect(heard.of('configChanged')).toEqual([]);
      call.updateFromPage({ instructions: 'Be rude.' });
      await heard.next('configChanged');
    }
  });

  test('has no turn detection of its own again once it is put back, where visitors hold a button to speak', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    call.updateFromPage({ audio: { input: { turn_detection: { type: 'server_vad' } } } });
    const behaviour = { turns: { detect: 'push' as const } };
    await bench.provider.attach(call.id, { ...setup, behaviour, isPutBack: true }, new Heard().hear, noAbort());
    expect(call.session['audio']).toMatchObject({ input: { turn_detection: null } });
  });

  test('is put back first where it was open before', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    call.updateFromPage({ instructions: 'Be rude.' });
    await bench.provider.attach(call.id, { ...setup, isPutBack: true }, new Heard().hear, noAbort());
    expect(call.session['instructions']).toBe(setup.instructions);
  });

  test('cuts off the response that is named, of several', async () => {
    const { call, heard, sideband } = await listen();
    for (const id of ['resp_1', 'resp_2']) call.beginResponse(usage, id);
    sideband.cancelResponse('resp_1');
    expect(await heard.next('responseDone')).toEqual({ type: 'responseDone', id: 'resp_1', isTold: true });
    expect(call.open).toEqual(['resp_2']);
    expect(heard.of('usage')).toMatchObject([{ key: 'resp_1' }]);
  });

  test('tells that a response had ended before it was cut off', async () => {
    const { heard, sideband } = await listen();
    sideband.cancelResponse('resp_gone');
    expect(await heard.next('responseDone')).toEqual({ type: 'responseDone', id: 'resp_gone', isTold: false });
    sideband.cancelResponse(undefined);
    await heard.next('conversationIdle');
  });

  test('tells who answered a tool, and what was taken out of the conversation', async () => {
    const { call, heard } = await listen();
    const item = { id: 'item_1', type: 'function_call_output', call_id: 'call_1', output: '{}' };
    call.emit({ type: 'conversation.item.added', item });
    const denial = { ...item, id: 'item_2', call_id: 'call_2', output: 'Tool lookup_order not found' };
    call.emit({ type: 'conversation.item.added', item: denial });
    call.emit({ type: 'conversation.item.deleted', item_id: 'item_1' });
    await heard.next('itemRemoved');
    expect(heard.events.filter(({ type }) => type === 'toolAnswered' || type === 'itemRemoved')).toEqual([
      { type: 'toolAnswered', item: 'item_1', callId: 'call_1', isDenial: false },
      { type: 'toolAnswered', item: 'item_2', callId: 'call_2', isDenial: true },
      { type: 'itemRemoved', item: 'item_1' },
    ]);
  });

  test('hears what the provider says in the same breath as it accepts the connection', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    const asked = { type: 'function_call', id: 'item_1', call_id: 'call_1', name: 'lookup', arguments: '{}' };
    const response = { object: 'realtime.response', id: 'resp_1', status: 'completed', output: [asked], usage: null };
    call.toldAtOnce.push({ type: 'response.done', response });
    const heard = new Heard();
    await bench.attach(call, heard);
    expect(heard.of('toolsAsked')).toMatchObject([{ responseId: 'resp_1', calls: [{ callId: 'call_1' }] }]);
  });

  test('takes items into the conversation and out of it, which it tells as what they are', async () => {
    const { call, heard, sideband } = await listen();
    sideband.addItem({ id: 'sb_1', type: 'message', role: 'user', text: 'Are you open?' });
    sideband.addItem({ id: 'sb_2', type: 'message', role: 'system', text: 'Be short.' });
    sideband.addItem({ id: 'sb_3', type: 'tool_output', callId: 'call_1', output: '{}' });
    sideband.deleteItem('sb_2');
    sideband.deleteItem('sb_2');
    await heard.next('trouble');
    expect(call.heard.slice(-5)).toMatchObject([
      {
        type: 'conversation.item.create',
        item: { id: 'sb_1', role: 'user', content: [{ type: 'input_text', text: 'Are you open?' }] },
      },
      { type: 'conversation.item.create', item: { id: 'sb_2', role: 'system' } },
      { type: 'conversation.item.create', item: { id: 'sb_3', type: 'function_call_output', call_id: 'call_1' } },
      { type: 'conversation.item.delete', item_id: 'sb_2' },
      { type: 'conversation.item.delete', item_id: 'sb_2' },
    ]);
    // A system message is not a caption.
    expect(heard.of('transcript')).toEqual([
      { type: 'transcript', item: 'sb_1', who: 'visitor', text: 'Are you open?', isWhole: true },
    ]);
    expect(heard.of('toolAnswered')).toEqual([
      { type: 'toolAnswered', item: 'sb_3', callId: 'call_1', isDenial: false },
    ]);
    expect(heard.of('trouble')).toEqual([{ type: 'trouble', code: 'item_not_found' }]);
  });

  test('makes a response on demand, one at a time, and tells when it makes none', async () => {
    const { call, heard, sideband } = await listen();
    sideband.createResponse('Say exactly: Hello.');
    await heard.next('responseStarted');
    expect(call.heard.at(-1)).toMatchObject({ response: { instructions: 'Say exactly: Hello.' } });
    sideband.createResponse(null);
    expect(await heard.next('responseRefused')).toEqual({ type: 'responseRefused', isBusy: true, instructions: null });
    sideband.cancelResponse(undefined);
    await heard.next('responseDone');
    expect(call.open).toEqual([]);
  });

  test('makes a turn of what the visitor said since it forgot what was said before, and tells nothing where that is nothing', async () => {
    const { call, heard, sideband } = await listen();
    call.inputMs = 3000;
    sideband.clearInput();
    sideband.commitInput();
    await expect.poll(() => call.heard.at(-1)).toMatchObject({ type: 'input_audio_buffer.commit' });
    call.inputMs = 900;
    sideband.commitInput();
    await heard.next('inputCommitted');
    await heard.next('itemAdded');
    // A commit by the page, or by the provider itself, is not ours.
    call.inputMs = 900;
    call.fromPage({ type: 'input_audio_buffer.commit' });
    sideband.deleteItem('none');
    await heard.next('trouble');
    expect(heard.of('inputCommitted')).toHaveLength(1);
    expect(heard.of('trouble')).toEqual([{ type: 'trouble', code: 'item_not_found' }]);
    expect(call.billed).toEqual([]);
  });

  test('clears what the agent said while it is heard, and asks for nothing else', async () => {
    const { call, heard, sideband } = await listen();
    sideband.clearSpeech();
    call.emit({ type: 'output_audio_buffer.started', response_id: 'resp_1' });
    await heard.next('speaking');
    sideband.clearSpeech();
    await heard.next('listening');
    expect(heard.of('speech')).toEqual([
      { type: 'speech', who: 'agent', isOn: true, responseId: 'resp_1' },
      { type: 'speech', who: 'agent', isOn: false, responseId: expect.any(String) },
    ]);
    expect(call.heard.filter(({ type }) => type === 'output_audio_buffer.clear')).toHaveLength(1);
  });

  test('of a call that was open before clears what the agent said, which may still be played, until it hears that it is not', async () => {
    bench = await StandInBench.open(name);
    const call = await bench.create();
    const heard = new Heard();
    const again = await bench.provider.attach(call.id, { ...setup, mayBeSpeaking: true }, heard.hear, noAbort());
    again.clearSpeech();
    await heard.next('listening');
    again.clearSpeech();
    again.deleteItem('none');
    await heard.next('trouble');
    expect(call.heard.filter(({ type }) => type === 'output_audio_buffer.clear')).toHaveLength(1);
  });

  test('tells of a response that speaks, and of tools that it calls', async () => {
    const { call, heard } = await listen();
    call.emit({ type: 'response.output_audio_transcript.delta', response_id: 'resp_1', delta: 'He' });
    call.emit({ type: 'response.function_call_arguments.done', response_id: 'resp_1', name: 'x', arguments: '{}' });
    await heard.next('toolCalled');
    call.emit({ type: 'response.output_text.delta', response_id: 'resp_2', delta: 'x'.repeat(40) });
    expect((await heard.next('responseHeard', 3)).tokens).toBe(10);
    const [spoken] = heard.of('responseHeard');
    expect(spoken?.tokens).toBeCloseTo(8 / 3);
  });
});

test('Azure hides its events from a page that has no data channel anyway, and from no other', async () => {
  bench = await StandInBench.open('azure');
  await bench.provider.createCall(callRequest(bench.offerSdp, { dataChannel: 'none' }));
  expect(bench.standIn.lastCall.terms.url).toBe('/openai/v1/realtime/calls?webrtcfilter=on');
  await bench.provider.createCall(callRequest(bench.offerSdp));
  expect(bench.standIn.lastCall.terms.url).toBe('/openai/v1/realtime/calls');
});

test('Azure mints client secrets with its own key header', async () => {
  bench = await StandInBench.open('azure');
  const { value } = await bench.provider.mint(callRequest(bench.offerSdp));
  expect(value).toBe(bench.standIn.secrets[0]);
  expect(bench.standIn.requests[0]?.headers).toMatchObject({ 'api-key': bench.standIn.apiKey });
  expect(bench.standIn.requests[0]?.headers).not.toHaveProperty('authorization');
});
