import { describe, expect, test } from 'vitest';
import { parseTraceParent, spanIdOf, traceIdOf, traceParentFor } from '../../src/kernel/trace-context.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('The header traceparent', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    // Flags that are not defined yet.
    [`00-${TRACE}-${SPAN}-fe`, false],
    [`00-${TRACE}-${SPAN}-ff`, true],
    // A later version, with and without further fields.
    [`cc-${TRACE}-${SPAN}-01`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-brings`, true],
  ])('is read: %s', (header, isSampled) => {
    expect(parseTraceParent(header)).toEqual({ traceId: TRACE, spanId: SPAN, isSampled });
  });

  test.each([
    undefined,
    '',
    'nonsense',
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01 `,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `ff-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}0-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
  ])('is ignored where it is none: %s', (header) => {
    expect(parseTraceParent(header)).toBeUndefined();
  });

  test('is given to servers of a session under the id of a span that is made later', () => {
    const trace = { traceId: traceIdOf('s:1:abc'), isSampled: true };
    const header = traceParentFor(trace, 'execute_tool', 'tool_1');
    expect(header).toBe(`00-${trace.traceId}-${spanIdOf(trace.traceId, 'execute_tool', 'tool_1')}-01`);
    expect(parseTraceParent(header)?.isSampled).toBe(true);
    expect(traceParentFor({ ...trace, isSampled: false }, 'execute_tool', 'tool_1')).toBe(header?.replace(/01$/, '00'));
    expect(traceParentFor(null, 'execute_tool', 'tool_1')).toBeUndefined();
  });
});

describe('Ids of spans', () => {
  test('are the same on every node, and no other thing has them', () => {
    expect(traceIdOf('s:1:abc')).toBe(traceIdOf('s:1:abc'));
    const names = [['call', 'a'], ['call', 'b'], ['call'], ['call a'], ['calla'], ['call', 'a', '']];
    const ids = names.map((name) => spanIdOf(TRACE, ...name));
    expect(new Set(ids).size).toBe(names.length);
    expect(spanIdOf(traceIdOf('s:2:abc'), 'call', 'a')).not.toBe(spanIdOf(traceIdOf('s:1:abc'), 'call', 'a'));
  });
});
