import { variablesOf, type Variable } from '../../config/variable.ts';
import { groups, variables } from '../../config/variables.ts';
import { exportCommands } from './export.ts';
import { reconcileCommands } from './reconcile.ts';
import { keyCommands } from './keys.ts';
import { secretCommands } from './secrets.ts';
import { stopCommands } from './stop.ts';
import { webhookCommands } from './webhooks.ts';
import { tenantCommands } from './tenants.ts';
import { exitCode, type Terminal } from './terminal.ts';

interface CommandHelp {
  readonly usage: string;
  readonly meaning: string;
}

const commands: readonly CommandHelp[] = [
  { usage: 'serve', meaning: 'runs the server; this is what happens without a command' },
  {
    usage: 'check-config',
    meaning: 'checks the settings and the tenants file: prints all errors, or the settings in effect',
  },
  { usage: 'migrate', meaning: 'migrates the database to this version; serve does so by itself' },
  ...tenantCommands,
  ...keyCommands,
  ...secretCommands,
  ...webhookCommands,
  ...stopCommands,
  ...exportCommands,
  ...reconcileCommands,
  { usage: 'print-openapi', meaning: "prints the interface's OpenAPI description" },
  { usage: '--help', meaning: 'prints this help' },
];

/** `--help`: lists the commands, and every variable with its meaning and default. */
export function run(_args: readonly string[], { out }: Pick<Terminal, 'out'>): Promise<number> {
  out.write(`${helpText()}\n`);
  return Promise.resolve(exitCode.ok);
}

function helpText(): string {
  const needed = variables.filter(({ production }) => production);
  return [
    'Switchboard: a session broker for real-time voice agents',
    '',
    'Usage: switchboard [command]      (in the source: npm start -- [command])',
    '',
    'Commands',
    ...commands.map(({ usage, meaning }) => `  ${usage}\n      ${meaning}`),
    '',
    'All settings are environment variables. A development machine needs none.',
    'NODE_ENV=production needs these (marked * below):',
    ...needed.map(({ name, example }) => `  ${name}=${example}`),
    ...Object.entries(groups).flatMap(([title, fields]) => ['', title, ...variablesOf(fields).map(variableHelp)]),
    '',
    'Exit codes: 0 done, 1 refused, 64 wrong arguments, 69 the database is away or in use, 78 wrong configuration',
  ].join('\n');
}

const nameWidth = Math.max(...variables.map(({ name }) => name.length));

function variableHelp({ name, meaning, unset, production }: Variable): string {
  return `${production ? '*' : ' '} ${name.padEnd(nameWidth)} ${meaning}\n${' '.repeat(nameWidth + 3)}default: ${unset}`;
}
