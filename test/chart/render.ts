import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv, type ValidateFunction } from 'ajv';
import { inject } from 'vitest';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';

export const chart = fileURLToPath(new URL('../../charts/switchboard', import.meta.url));
export const read = (file: string): string => readFileSync(join(chart, file), 'utf8');

/** Where Debian installs the sources of Go libraries. */
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
  /** The given values merged over the chart's defaults. */
  readonly values: Values;
  /** The rendered texts by the names of their templates. */
  readonly files: Readonly<Record<string, string>>;
  readonly objects: Readonly<Record<string, readonly Manifest[]>>;
}

let renderer: string | undefined;
let validate: ValidateFunction | undefined;

/** Builds the renderer: half a second of CPU time if the libraries are already compiled. */
function build(): string {
  const built = join(inject('runDirectory'), `chart-renderer-${process.pid}`);
  const source = fileURLToPath(new URL('renderer/main.go', import.meta.url));
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: join(libraries, '..'), GOFLAGS: '' };
  execFileSync(findGo(), ['build', '-o', built, source], { env, stdio: 'pipe' });
  return built;
}

/**
 * The chart with these values as Helm renders it, except that the values are not checked against their schema.
 * @throws Error with the message of a template that refuses the values
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

/** What the chart's schema finds wrong with these values, which must be complete; empty if nothing. */
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

/** The chart with these values as Helm renders it. @throws Error that says what is wrong with the values */
export function render(values: Values, release?: string): Rendered {
  const rendered = renderUnchecked(values, release);
  const faults = faultsOf(rendered.values);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return rendered;
}
