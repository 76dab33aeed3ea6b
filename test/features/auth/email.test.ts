import { describe, expect, test } from 'vitest';
import { matchesEmailList, parseEmail } from '../../../src/protocol/email.ts';
import { isPlainAddress } from '../../../src/mail/message.ts';

describe('An address', () => {
  test.each([
    ['ada@example.com', 'ada@example.com'],
    ['  Ada.Lovelace+Tag@Example.COM \n', 'ada.lovelace+tag@example.com'],
    ["o'neil@example.com", "o'neil@example.com"],
    ['ada@localhost', 'ada@localhost'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    [`${'a'.repeat(64)}@example.com`, `${'a'.repeat(64)}@example.com`],
  ])('%j is accepted as %j', (text, email) => {
    expect(parseEmail(text)).toBe(email);
    expect(isPlainAddress(email)).toBe(true);
  });

  test.each([
    [''],
    ['ada'],
    ['@example.com'],
    ['ada@'],
    ['ada@@example.com'],
    ['ada@example.com, bob@example.com'],
    ['ada@example.com;bob@example.com'],
    ['ada@example.com bob@example.com'],
    ['Ada <ada@example.com>'],
    ['<ada@example.com>'],
    ['a@good.example <b@evil.example>'],
    ['"ada"@example.com'],
    ['ada(comment)@example.com'],
    ['a@good.example\r\nBcc: b@evil.example'],
    ['ada\u0000@example.com'],
    ['ada\t@example.com'],
    ['adä@example.com'],
    ['ada@bücher.example'],
    ['.ada@example.com'],
    ['ada.@example.com'],
    ['a..da@example.com'],
    ['ada@-example.com'],
    ['ada@example..com'],
    ['ada@[127.0.0.1]'],
    [`${'a'.repeat(65)}@example.com`],
    [`ada@${'a.'.repeat(130)}com`],
  ])('%j is refused', (text) => {
    expect(parseEmail(text)).toBeUndefined();
  });

  test('with a letter that only lower-casing makes ASCII is refused, because it would be mistaken for another address', () => {
    expect('ada@\u212aube.example'.toLowerCase()).toBe('ada@kube.example');
    expect(parseEmail('ada@\u212aube.example')).toBeUndefined();
    expect(parseEmail('\u212aim@example.com')).toBeUndefined();
  });

  test('of the maximum length is accepted, and one character more is not', () => {
    const label = 'd'.repeat(63);
    const longest = `${'a'.repeat(62)}@${label}.${label}.${label}`;
    expect(longest).toHaveLength(254);
    expect(parseEmail(longest)).toBe(longest);
    expect(parseEmail(`a${longest}`)).toBeUndefined();
  });
});

describe('A list of addresses', () => {
  test.each<[string[], boolean]>([
    [['*'], true],
    [['ada@example.com'], true],
    [['ADA@Example.com'], true],
    [['bob@example.com', ' ada@example.com '], true],
    [['@example.com'], true],
    [['@EXAMPLE.com'], true],
    [[], false],
    [['bob@example.com'], false],
    [['example.com'], false],
    [['@ample.com'], false],
    [['@com'], false],
    [['@www.example.com'], false],
    [['ada@example.com.evil.example'], false],
    [['*@example.com'], false],
  ])('%j admits ada@example.com: %j', (list, admits) => {
    expect(matchesEmailList('ada@example.com', list)).toBe(admits);
  });

  test('with a domain does not admit its subdomains', () => {
    expect(matchesEmailList('ada@sub.example.com', ['@example.com'])).toBe(false);
  });
});
