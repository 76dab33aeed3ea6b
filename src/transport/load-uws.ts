import { createRequire } from 'node:module';
import type { Uws } from './native.ts';

/** What determines which version can run. `glibc` is undefined outside Linux and on musl (Alpine). */
export interface Platform {
  readonly nodeMajor: number;
  readonly os: NodeJS.Platform;
  readonly glibc: string | undefined;
}

const packages = ['uws-current', 'uws-compatible'] as const;
export type UwsPackage = (typeof packages)[number];

const currentNodes: ReadonlySet<number> = new Set([22, 24, 26]);
const CURRENT_GLIBC = 2.38;

/** The native part does not load here; the message says why and what to do. */
export class CannotLoad extends Error {
  override readonly name = 'CannotLoad';
}

/**
 * The two packages in the order in which to try them (docs/decisions/0007-two-versions-of-uwebsockets.md): the current version
 * runs on Node 22, 24 and 26 with glibc 2.38 or later, the compatible one on Node 20 and 22 with glibc 2.27 or later.
 */
export function preferredPackages({ nodeMajor, os, glibc }: Platform): readonly UwsPackage[] {
  const libraryFits = os !== 'linux' || isAtLeast(glibc, CURRENT_GLIBC);
  return currentNodes.has(nodeMajor) && libraryFits ? packages : packages.toReversed();
}

function isAtLeast(version: string | undefined, wanted: number): boolean {
  const [major = 0, minor = 0] = (version ?? '0.0').split('.').map(Number);
  return major * 1000 + minor >= Math.floor(wanted) * 1000 + Math.round((wanted % 1) * 100);
}

/**
 * Loads uWebSockets.js: the version that fits this platform, otherwise the other one.
 * @param load takes a package name and returns the package or throws
 * @throws CannotLoad that names the platform, what would run, and why each version did not load
 */
export function loadUws(platform: Platform = thisPlatform(), load: (name: UwsPackage) => Uws = loadPackage): Uws {
  limitHeaderBytes(process.env);
  const { nodeMajor, os, glibc } = platform;
  const failures: string[] = [];
  for (const name of preferredPackages(platform)) {
    try {
      return load(name);
    } catch (error) {
      failures.push(`  ${name}: ${causeOf(error, nodeMajor)}`);
    }
  }
  const library = os === 'linux' ? `, ${glibc === undefined ? 'no glibc (musl?)' : `glibc ${glibc}`}` : '';
  throw new CannotLoad(
    `The HTTP server's native part (uWebSockets.js) does not load on Node ${nodeMajor}, ${os} ${process.arch}${library}.\n` +
      'It runs on Node 20, 22, 24 or 26; on Linux it needs glibc 2.27 or later for Node 20 and 22, 2.38 or later for ' +
      'Node 24 and 26 (Debian 13, Ubuntu 24.04); Alpine (musl) cannot run it.\n' +
      'On a machine that fits, run `npm ci` again, there and with the Node that will run it, without --omit=optional: the binary ' +
      'comes as an optional dependency that is chosen by platform and Node version.\n' +
      failures.join('\n'),
  );
}

const require = createRequire(import.meta.url);

function loadPackage(name: UwsPackage): Uws {
  // The names are literal so that bundlers and tools that find unused dependencies see them.
  return (name === 'uws-current' ? require('uws-current') : require('uws-compatible')) as Uws;
}

/** Extracts the cause from a package's error, whose message begins with supported versions and ends with a stack of file names. */
function causeOf(error: unknown, nodeMajor: number): string {
  const lines = String(error instanceof Error ? error.message : error)
    .split('\n')
    .map((line) => line.trim());
  const said = (pattern: RegExp) => lines.find((line) => pattern.test(line));
  const missing = /Cannot find module '(@[\w./-]+)'/.exec(lines.join('\n'))?.[1];
  if (missing !== undefined)
    return `its binary ${missing} is not installed: was it installed with another Node than ${nodeMajor}, or without optional dependencies?`;
  if (said(/Cannot find module '\.\//) !== undefined) return `it has no binary for Node ${nodeMajor} on this platform`;
  const library = said(/GLIBC\w*_[\d.]+' not found|ld-linux|libc\.musl/);
  if (library !== undefined) return `the C library does not fit: ${library}`;
  const built = said(/NODE_MODULE_VERSION/);
  if (built !== undefined) return `its binary was built for another Node: ${built}`;
  return lines.findLast((line) => line !== '' && !line.startsWith('- ') && line !== 'Require stack:') ?? 'unknown';
}

function thisPlatform(): Platform {
  const nodeMajor = Number(process.versions.node.split('.')[0]);
  // The report costs milliseconds, so it is made only where glibc decides.
  const asks = process.platform === 'linux' && currentNodes.has(nodeMajor);
  return { nodeMajor, os: process.platform, glibc: asks ? glibcVersion() : undefined };
}

function glibcVersion(): string | undefined {
  const { header } = processReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime;
}

/** Node's report about this process. Takes milliseconds. */
export function processReport(): object {
  // Node 20's types lack the switch; Node 20.13 and 22 have it.
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  // Otherwise the report looks up the name of every peer of every socket.
  report.excludeNetwork = true;
  return report.getReport();
}

const HEADER_BYTES_VARIABLE = 'UWS_HTTP_MAX_HEADERS_SIZE';

/**
 * Raises uWebSockets.js's limit for a request's line and headers together from 4 KiB, which a few cookies exceed, to
 * Node's own 16 KiB. The library reads the variable once, when it loads, with atoi: anything but a number would mean 0
 * and refuse every request that comes in two packets, and a negative number would mean no limit. Hence the check.
 * @throws Error when the variable is set to something that is not a whole number from 4096 to 262144
 */
export function limitHeaderBytes(env: NodeJS.ProcessEnv): void {
  const value = (env[HEADER_BYTES_VARIABLE] ??= '16384');
  if (!/^\d{4,6}$/.test(value) || Number(value) < 4096 || Number(value) > 262_144) {
    throw new Error(
      `${HEADER_BYTES_VARIABLE} must be a whole number of bytes from 4096 to 262144, for example 16384; it is ${value}.`,
    );
  }
}
