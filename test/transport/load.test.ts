import { describe, expect, it } from 'vitest';
import {
  CannotLoad,
  limitHeaderBytes,
  loadUws,
  type Platform,
  preferredPackages,
  type UwsPackage,
} from '../../src/transport/load-uws.ts';
import type { Uws } from '../../src/transport/native.ts';

const linux = (nodeMajor: number, glibc?: string): Platform => ({ nodeMajor, os: 'linux', glibc });

describe('choosing uWebSockets.js', () => {
  it.each([
    [20, '2.41', 'uws-compatible'],
    [22, '2.36', 'uws-compatible'],
    [22, '2.38', 'uws-current'],
    [24, '2.41', 'uws-current'],
    [26, '3.0', 'uws-current'],
    [22, '2.4', 'uws-compatible'],
    [23, '2.41', 'uws-compatible'],
    [24, undefined, 'uws-compatible'],
  ])('on Node %i with glibc %s tries %s first', (nodeMajor, glibc, first) => {
    expect(preferredPackages(linux(nodeMajor, glibc))[0]).toBe(first);
  });

  it('does not ask for glibc outside Linux', () => {
    expect(preferredPackages({ nodeMajor: 24, os: 'darwin', glibc: undefined })[0]).toBe('uws-current');
  });

  it('uses the other version if the preferred one does not load', () => {
    const other = {} as Uws;
    const load = (name: UwsPackage): Uws => {
      if (name === 'uws-current') throw new Error('GLIBC_2.38 not found');
      return other;
    };
    expect(loadUws(linux(24, '2.41'), load)).toBe(other);
  });

  it('says on which platform nothing loads, why, and what would help', () => {
    const load = (name: UwsPackage): Uws => {
      throw new Error(`intro\n\nno binary in ${name}`);
    };
    const attempt = () => loadUws(linux(25), load);
    expect(attempt).toThrow(/Node 25, linux \w+, no glibc \(musl\?\)/);
    expect(attempt).toThrow(/Node 20, 22, 24 or 26/);
    expect(attempt).toThrow(/npm ci/);
    expect(attempt).toThrow(/uws-current: no binary in uws-current/);
    expect(attempt).toThrow(/uws-compatible: no binary in uws-compatible/);
  });

  it.each([
    [
      "Error: Cannot find module '@uwsjs/linux-x64-22'\nRequire stack:\n- /a/uws.js",
      'its binary @uwsjs/linux-x64-22 is not installed: was it installed with another Node than 24',
    ],
    [
      "Error: Cannot find module './uws_linux_x64_141.node'\nRequire stack:\n- /a/uws.js",
      'it has no binary for Node 24',
    ],
    [
      "Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /a/uws.node)",
      "the C library does not fit: Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found",
    ],
    [
      'Error: Error loading shared library ld-linux-x86-64.so.2: No such file or directory',
      'the C library does not fit',
    ],
    [
      'Error: The module was compiled against a different Node.js version using\nNODE_MODULE_VERSION 115. This version',
      'built for another Node: NODE_MODULE_VERSION 115',
    ],
    ['Error: EACCES: permission denied\nRequire stack:\n- /a/uws.js', 'Error: EACCES: permission denied'],
  ])('names the cause, not the stack: %j', (told, cause) => {
    const load = (): Uws => {
      throw new Error(`This version supports only Node.js versions 18 and 20.\n\n${told}`);
    };
    const attempt = () => loadUws(linux(24, '2.36'), load);
    expect(attempt).toThrow(CannotLoad);
    expect(attempt).toThrow(cause);
    expect(attempt).not.toThrow(/\/a\/uws\.js/);
  });

  it('loads on the machine that runs this test', () => {
    expect(typeof loadUws().App).toBe('function');
  });
});

describe('the limit for header bytes', () => {
  it('is 16 KiB by default', () => {
    const env: NodeJS.ProcessEnv = {};
    limitHeaderBytes(env);
    expect(env['UWS_HTTP_MAX_HEADERS_SIZE']).toBe('16384');
  });

  it('stays as the operator set it', () => {
    const env = { UWS_HTTP_MAX_HEADERS_SIZE: '32768' };
    limitHeaderBytes(env);
    expect(env.UWS_HTTP_MAX_HEADERS_SIZE).toBe('32768');
  });

  it.each(['', '0', '-1', '16k', '1e5', '4095', '262145', '99999999'])('may not be %j', (value) => {
    expect(() => limitHeaderBytes({ UWS_HTTP_MAX_HEADERS_SIZE: value })).toThrow(/UWS_HTTP_MAX_HEADERS_SIZE must be/);
  });
});
