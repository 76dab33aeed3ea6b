/**
 * Finds the number between `from` and `to` that, appended to the salt, has this SHA-256 in hexadecimal digits; undefined if there is none.
 * Everything is inside one function, because a worker is made from its source text.
 */
export function findNumber(salt: string, wanted: string, from: number, to: number): number | undefined {
  const fraction = (value: number): number => ((value - Math.floor(value)) * 2 ** 32) | 0;
  const start = new Int32Array(8);
  const constants = new Int32Array(64);
  for (let candidate = 2, found = 0; found < 64; candidate += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= candidate; divisor += 1) if (candidate % divisor === 0) isPrime = false;
    if (!isPrime) continue;
    if (found < 8) start[found] = fraction(candidate ** 0.5);
    constants[found] = fraction(candidate ** (1 / 3));
    found += 1;
  }
  const words = new Int32Array(64);
  const state = new Int32Array(8);
  const at = (list: Int32Array, index: number): number => list[index] as number;

  function compress(bytes: DataView, offset: number): void {
    for (let i = 0; i < 64; i += 1) {
      if (i < 16) words[i] = bytes.getInt32(offset + 4 * i);
      else {
        const [x, y] = [at(words, i - 15), at(words, i - 2)];
        const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
        const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
        words[i] = at(words, i - 16) + s0 + at(words, i - 7) + s1;
      }
    }
    let [a, b, c, d, e, f, g, h] = state as unknown as [number, number, number, number, number, number, number, number];
    for (let i = 0; i < 64; i += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + s1 + ((e & f) ^ (~e & g)) + at(constants, i) + at(words, i)) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    const sums = [a, b, c, d, e, f, g, h];
    for (let i = 0; i < 8; i += 1) state[i] = at(state, i) + (sums[i] as number);
  }

  // The salt's complete blocks are the same for all numbers.
  const bytes = Uint8Array.from(salt, (character) => character.charCodeAt(0));
  const rest = bytes.length % 64;
  const whole = new DataView(bytes.buffer);
  state.set(start);
  for (let offset = 0; offset < bytes.length - rest; offset += 64) compress(whole, offset);
  const after = state.slice();
  const goal = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i += 1) goal.setUint32(4 * i, Number.parseInt(wanted.slice(8 * i, 8 * i + 8), 16));

  const tail = new Uint8Array(128);
  const view = new DataView(tail.buffer);
  for (let number = from; number <= to; number += 1) {
    const digits = String(number);
    tail.fill(0);
    tail.set(bytes.subarray(bytes.length - rest));
    for (let i = 0; i < digits.length; i += 1) tail[rest + i] = digits.charCodeAt(i);
    const length = rest + digits.length;
    tail[length] = 128;
    const blocks = length < 56 ? 1 : 2;
    view.setUint32(64 * blocks - 4, 8 * (bytes.length + digits.length));
    state.set(after);
    for (let block = 0; block < blocks; block += 1) compress(view, 64 * block);
    if (state.every((word, i) => word === goal.getInt32(4 * i))) return number;
  }
  return undefined;
}
