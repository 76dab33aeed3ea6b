import { describe, expect, it } from 'vitest';
import { peerText } from '../../src/transport/request.ts';

function bytes(hex: string): ArrayBuffer {
  return new Uint8Array(Buffer.from(hex, 'hex')).buffer;
}

describe('the peer as text', () => {
  it.each([
    ['7f000001', '127.0.0.1'],
    ['ffffffff', '255.255.255.255'],
    ['00000000', '0.0.0.0'],
    ['00000000000000000000ffffc0a80a01', '192.168.10.1'],
    ['00000000000000000000000000000001', '::1'],
    ['20010db8000000000000000000000001', '2001:db8::1'],
    ['20010db800000001000000010000ab01', '2001:db8:0:1:0:1:0:ab01'],
    ['0064ff9b0000000000000000c0000201', '64:ff9b::c000:201'],
  ])('of %s is %s', (hex, text) => {
    expect(peerText(bytes(hex))).toBe(text);
    expect(peerText(bytes(hex))).toBe(text);
  });

  it('of a closed connection is empty', () => {
    expect(peerText(new ArrayBuffer(0))).toBe('');
  });

  it('stays right after more addresses than are remembered', () => {
    for (let i = 0; i < 10_100; i += 1) {
      const hex = i.toString(16).padStart(8, '0');
      expect(peerText(bytes(hex))).toBe(`0.0.${i >> 8}.${i & 255}`);
    }
  });
});
