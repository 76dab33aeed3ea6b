import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { inject } from 'vitest';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';

export const chart = fileURLToPath(new URL('../../charts/switchboard', import.meta.url));
export const read = (file: string): string => readFileSync(join(chart, file), 'utf8');

/** Where Debian has the sources of Go libraries. */
const libraries = '/usr/share/gocode/src';

function findGo(): string {
  findBinary('sprig', 'golang-github-masterminds-sprig-dev', [join(libraries, 'github.com/Masterminds')]);
  findBinary('yaml', 'golang-k8s-sigs-yaml-dev', [join(libraries, 'sigs.k8s.io')]);
  return findBinary('go', 'golang-go');
}

export const reasonToSkipChart = reasonToSkip(findGo);

export type Values = Readonly<Record<string, unknown>>;
export type Manifest = Readonly<{ apiVersion: string; kind: string; metadata: { name: string } } & Values>;

export interface Rendered {
  /** What was given, over what the chart has by itself. */
  readonly values: Values;
  /** The texts, by the names of their templates. */
  readonly files: Readonly<Record<string, string>>;
  readonly objects: Readonly<Record<string, readonly Manifest[]>>;
}

let renderer: string | undefined;
let validate: ValidateFunction | undefined;

/** Half a second of a processor, where the libraries are compiled already. */
function build(): string {
  const built = join(inject('runDirectory'), `chart-renderer-${process.pid}`);
  const source = fileURLToPath(new URL('renderer/main.go', import.meta.url));
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: join(libraries, '..'), GOFLAGS: '' };
  execFileSync(findGo(), ['build', '-o', built, source], { env, stdio: 'pipe' });
  return built;
}

/**
 * The chart with these values, as Helm renders it, but for their schema.
 * @throws Error with the message of a template that refuses them.
 */
export function renderUnchecked(values: Values, release = 'switchboard'): Rendered {
  renderer ??= build();
  const { status, stdout, stderr } = spawnSync(renderer, {
    input: JSON.stringify({ chart, release, values }),
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as Rendered;
}

/** What the chart's schema has against these values, which are complete; nothing where they are right. */
export function faultsOf(values: Values): string[] {
  validate ??= new Ajv({ allErrors: true, allowUnionTypes: true }).compile(
    JSON.parse(read('values.schema.json')) as object,
  );
  validate(values);
  return (validate.errors ?? []).map(({ instancePath, message = '', params }) =>
    [instancePath, message, (params as { readonly additionalProperty?: string }).additionalProperty ?? '']
      .join(' ')
      .trim(),
  );
}

/** The chart with these values, as Helm renders it. @throws Error that says what is wrong with them. */
export function render(values: Values, release?: string): Rendered {
  const rendered = renderUnchecked(values, release);
  const faults = faultsOf(rendered.values);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return rendered;
}
