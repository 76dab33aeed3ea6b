import { describe, expect, test } from 'vitest';
import { createRequest } from '../../src/protocol/create.ts';
import { tenantsFileSchema } from '../../src/tenants/file-schema.ts';

const longest = { kind: 'k'.repeat(64), name: 'n'.repeat(64), description: 'd'.repeat(8192) };

describe('The limits of a create request and of an agent in the tenants file', () => {
  test.each([
    ['a tool with texts as long as they may be', { tools: [longest] }, true],
    ['a tool with a longer description', { tools: [{ ...longest, description: 'd'.repeat(8193) }] }, false],
    ['a tool with a longer kind', { tools: [{ ...longest, kind: 'k'.repeat(65) }] }, false],
    ['a tool with a longer name', { tools: [{ ...longest, name: 'n'.repeat(65) }] }, false],
    ['128 tools', { tools: Array.from({ length: 128 }, () => longest) }, true],
    ['129 tools', { tools: Array.from({ length: 129 }, () => longest) }, false],
    ['32 KiB of instructions', { instructions: 'é'.repeat(16_384) }, true],
    ['more than 32 KiB of instructions', { instructions: 'é'.repeat(16_385) }, false],
    ['a model of 128 characters', { model: 'm'.repeat(128) }, true],
    ['a model of 129 characters', { model: 'm'.repeat(129) }, false],
    ['an empty voice', { voice: '' }, false],
  ])('are the same for %s', (_, settings, isAllowed) => {
    const file = { tenants: [{ id: 'acme', agents: [{ id: 'support', ...settings }] }] };
    expect(createRequest.safeParse(settings).success).toBe(isAllowed);
    expect(tenantsFileSchema.safeParse(file).success).toBe(isAllowed);
  });
});
