import { variables, type VariableName } from '../../config/env.ts';
import { exitCode, type Terminal } from './terminal.ts';

interface CommandHelp {
  readonly usage: string;
  readonly meaning: string;
}

const commands: readonly CommandHelp[] = [
  { usage: 'serve', meaning: 'runs the server; this is what happens without a command' },
  {
    usage: 'check-config',
    meaning: 'tells what is wrong with the settings and the tenants file, or which are in effect',
  },
  { usage: 'migrate', meaning: 'brings the database up to date; serve does so by itself' },
  {
    usage: 'keys issue --tenant T --site S --origin O [--label L] [--agents A,B] [--pinned] [--totals LIST] [--json]',
    meaning:
      'issues a widget key; --agents allows only these agents, --pinned no overrides of what they are, --totals sets what all its visitors may use together',
  },
  { usage: 'keys list [--tenant T] [--json]', meaning: 'lists widget keys, revoked ones included' },
  {
    usage: 'keys revoke --tenant T --id I [--reason R] [--json]',
    meaning: 'revokes a widget key for ever and ends its sessions',
  },
  { usage: 'print-openapi', meaning: "prints the interface's OpenAPI description" },
  { usage: '--help', meaning: 'prints this' },
];

/** Every variable is in exactly one group; a test holds this table to the variables. */
export const variableGroups: Readonly<Record<string, readonly VariableName[]>> = {
  'The service': [
    'NODE_ENV',
    'HOST',
    'PORT',
    'WORKERS',
    'MAX_CONNECTIONS',
    'PUBLIC_URL',
    'TRUST_PROXY',
    'LOG_LEVEL',
    'DEBUG_METRICS',
  ],
  'Storage and tenants': [
    'DATABASE_URL',
    'REDIS_URL',
    'REDIS_PREFIX',
    'DATA_DIR',
    'TENANTS_FILE',
    'SESSION_RETENTION_DAYS',
    'USAGE_RETENTION_DAYS',
    'AUDIT_RETENTION_DAYS',
  ],
  'Upstream model provider': [
    'UPSTREAM_PROVIDER',
    'OPENAI_API_KEY',
    'UPSTREAM_BASE_URL',
    'UPSTREAM_TIMEOUT_MS',
    'CLIENT_SECRET_TTL_SEC',
  ],
  'Who may use it': [
    'JWT_SECRET',
    'CONSOLE_EMAILS',
    'OPERATOR_EMAILS',
    'SERVICE_TOKENS',
    'CONSOLE_ORIGINS',
    'REQUIRE_AUTH_FOR_SESSION',
    'REQUIRE_ORIGIN_FOR_WIDGETS',
  ],
  'Console login': [
    'SMTP_URL',
    'MAIL_FROM',
    'OTP_EXPIRY_MINUTES',
    'MAX_OTP_PER_HOUR',
    'MAX_OTP_VERIFY_ATTEMPTS',
    'SESSION_EXPIRY_HOURS',
    'SESSION_ABSOLUTE_HOURS',
  ],
  'Bot protection': ['BOT_PROVIDER', 'BOT_VERDICT_URL', 'BOT_VERDICT_TOKEN'],
  'Voice sessions': [
    'MAX_SESSION_MINUTES',
    'MAX_SESSION_IDLE_SEC',
    'STALE_GRACE_SEC',
    'STALE_REAP_SEC',
    'HEARTBEAT_INTERVAL_SEC',
  ],
  'Rate limits': ['RATE_IP_PER_MIN', 'RATE_USER_PER_MIN', 'RATE_PAGE_PER_MIN', 'RATE_BURST', 'MAX_SOCKETS_PER_IP'],
  'Limits of widget callers (a key may have its own)': [
    'WIDGET_SESSION_PER_MIN',
    'WIDGET_MAX_TOKENS_DAILY',
    'WIDGET_MAX_DOLLARS_DAILY',
    'WIDGET_MAX_TOKENS_PER_MINUTE',
    'WIDGET_MAX_CONCURRENT_SESSIONS',
  ],
  'Limits of console callers': [
    'CONSOLE_SESSION_PER_MIN',
    'CONSOLE_MAX_TOKENS_DAILY',
    'CONSOLE_MAX_DOLLARS_DAILY',
    'CONSOLE_MAX_CONCURRENT_SESSIONS',
    'QUOTA_TIMEZONE',
  ],
};

/** `--help`: the commands, and every variable with its meaning and default. */
export function run(_args: readonly string[], { out }: Pick<Terminal, 'out'>): Promise<number> {
  out.write(`${helpText()}\n`);
  return Promise.resolve(exitCode.ok);
}

function helpText(): string {
  const needed = namesRequiredInProduction();
  return [
    'Switchboard: a session broker for real-time voice agents',
    '',
    'Usage: switchboard [command]      (in the source: npm start -- [command])',
    '',
    'Commands',
    ...commands.map(({ usage, meaning }) => `  ${usage}\n      ${meaning}`),
    '',
    'It is configured by environment variables. Nothing is needed on a development machine.',
    `NODE_ENV=production needs these, marked with * below:`,
    ...needed.map((name) => `  ${name}=${variables[name].example}`),
    ...Object.entries(variableGroups).flatMap(([title, names]) => ['', title, ...names.map(describeVariable)]),
    '',
    'Exit codes: 0 done, 1 refused, 64 wrong arguments, 69 the database is away or in use, 78 wrong configuration',
  ].join('\n');
}

function namesRequiredInProduction(): VariableName[] {
  return Object.values(variableGroups)
    .flat()
    .filter((name) => variables[name].requiredInProduction);
}

function describeVariable(name: VariableName): string {
  const { meaning, defaultText, requiredInProduction } = variables[name];
  return `${requiredInProduction ? '*' : ' '} ${name.padEnd(30)} ${meaning}\n${' '.repeat(33)}default: ${defaultText}`;
}
