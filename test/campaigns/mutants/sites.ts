import { parseSync } from 'vite';

/** A change of one place of a file that a test should notice. */
export interface Mutant {
  readonly kind: Kind;
  /** The place as offsets in the file, and the text that takes its place. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** An expression can be wrapped in others, a statement can have others before it, and a block begins with `{`. */
  readonly place: 'expression' | 'statement' | 'block';
  /** It runs once, when the file is loaded, instead of in a function. */
  readonly onLoad: boolean;
}

export type Kind =
  | 'condition'
  | 'comparison'
  | 'arithmetic'
  | 'logic'
  | 'boolean'
  | 'number'
  | 'string'
  | 'array'
  | 'object'
  | 'call'
  | 'return';

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

const SWAPPED: Readonly<Record<string, readonly [Kind, string]>> = {
  '<': ['comparison', '<='],
  '<=': ['comparison', '<'],
  '>': ['comparison', '>='],
  '>=': ['comparison', '>'],
  '===': ['comparison', '!=='],
  '!==': ['comparison', '==='],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
  '+=': ['arithmetic', '-='],
  '-=': ['arithmetic', '+='],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
};

/** Types that have a value in them. */
const TYPED = new Set(['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression', 'TSInstantiationExpression']);
const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);
/** Calls that describe something to readers, and errors, whose texts are for readers as well. */
const DESCRIBES = new Set(['meta', 'describe']);
const LOGS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);
const ERROR = /(?:Error|Fault|Unavailable)$/;

/**
 * All mutants of a TypeScript file, in the order of their places: none in types, imports, log lines, descriptions and texts of errors.
 * @throws Error when the text is no TypeScript
 */
export function mutantsOf(path: string, text: string): Mutant[] {
  const { program, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const found: Mutant[] = [];
  visit(program as unknown as Node, false);
  return found;

  function visit(node: Node, inFunction: boolean): void {
    if (isForReaders(node)) return;
    for (const [kind, start, end, replacement, place] of changesOf(node, text))
      found.push({ kind, start, end, text: replacement, place, onLoad: !inFunction });
    const isInside = inFunction || FUNCTIONS.has(node.type);
    for (const child of childrenOf(node)) visit(child, isInside);
  }
}

/** Nothing in it changes what the program does, or what it changes is what people read. */
function isForReaders(node: Node): boolean {
  if (node.type.startsWith('TS')) return !TYPED.has(node.type);
  if (node.type === 'ImportDeclaration' || node.type === 'ImportExpression' || node.type === 'ExportAllDeclaration')
    return true;
  if (node.type === 'ExpressionStatement' && typeof node['directive'] === 'string') return true;
  return node.type === 'CallExpression' && isLog(node['callee'] as Node);
}

function isLog(callee: Node): boolean {
  if (callee.type !== 'MemberExpression' || !LOGS.has(nameOf(callee['property']))) return false;
  const object = callee['object'] as Node;
  return /log/i.test(object.type === 'MemberExpression' ? nameOf(object['property']) : nameOf(object));
}

function childrenOf(node: Node): Node[] {
  const left = new Set<unknown>();
  if (node['computed'] === false) left.add(node['key']).add(node['property']);
  if (node.type === 'ExportNamedDeclaration') left.add(node['source']);
  if (node.type === 'TaggedTemplateExpression') return [...(node['quasi'] as { expressions: Node[] }).expressions];
  const callee = node['callee'] as Node | undefined;
  if (node.type === 'NewExpression' && ERROR.test(nameOf(callee))) return [];
  if (node.type === 'CallExpression' && DESCRIBES.has(nameOf(callee?.['property'] ?? callee)))
    return callee ? [callee] : [];
  return Object.values(node)
    .flat()
    .filter((value): value is Node => isNode(value) && !left.has(value));
}

type Change = readonly [Kind, number, number, string, Mutant['place']];

function changesOf(node: Node, text: string): Change[] {
  const whole = (kind: Kind, replacement: string): Change[] => [
    [kind, node.start, node.end, replacement, 'expression'],
  ];
  const of = (part: Node): string => text.slice(part.start, part.end);
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression':
    case 'WhileStatement': {
      const test = node['test'] as Node;
      // What its own operator changes in the same way is no second mutant.
      if (/^[!=]==$/.test(String(test['operator']))) return [];
      return [['condition', test.start, test.end, `!(${of(test)})`, 'expression']];
    }
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression': {
      const [left, right] = [node['left'] as Node, node['right'] as Node];
      const [kind, swapped] = SWAPPED[String(node['operator'])] ?? [];
      if (kind === undefined || swapped === undefined || isText(left) || isText(right)) return [];
      // In brackets, because the operators around it may bind otherwise.
      return whole(kind, `(${of(left)} ${swapped} ${of(right)})`);
    }
    case 'Literal':
      return literalChanges(node, whole);
    case 'TemplateLiteral':
      return node.end - node.start > 2 ? whole('string', "''") : [];
    case 'ArrayExpression':
      return (node['elements'] as Node[]).length > 0 ? whole('array', '[]') : [];
    case 'ObjectExpression':
      return (node['properties'] as Node[]).length > 0 ? whole('object', '({})') : [];
    case 'ExpressionStatement':
      return isCall(node['expression'] as Node) ? [['call', node.start, node.end, ';', 'statement']] : [];
    default:
      return FUNCTIONS.has(node.type) ? functionChanges(node) : [];
  }
}

function literalChanges(node: Node, whole: (kind: Kind, text: string) => Change[]): Change[] {
  const value = node['value'];
  if (typeof value === 'boolean') return whole('boolean', String(!value));
  if (typeof value === 'number') return whole('number', String(value + 1));
  return typeof value === 'string' && value !== '' ? whole('string', "''") : [];
}

/** A function that returns no value can return at once. (The compiler would refuse it in any other.) */
function functionChanges(node: Node): Change[] {
  const body = node['body'] as Node | null;
  if (body?.type !== 'BlockStatement') return [];
  const statements = body['body'] as Node[];
  const [first] = statements;
  if (first === undefined || hasValue(body)) return [];
  // Removing the only call is the same.
  if (statements.length === 1 && first.type === 'ExpressionStatement' && isCall(first['expression'] as Node)) return [];
  return [['return', body.start, body.start + 1, '{ return;', 'block']];
}

function hasValue(node: Node): boolean {
  if (FUNCTIONS.has(node.type)) return false;
  // A constructor that has to call the constructor of its class's base may not return before.
  if (node.type === 'Super') return true;
  if (node.type === 'ReturnStatement') return node['argument'] !== null;
  return Object.values(node)
    .flat()
    .some((value) => isNode(value) && hasValue(value));
}

function isCall(node: Node): boolean {
  if (node.type === 'AwaitExpression' || node.type === 'UnaryExpression') return isCall(node['argument'] as Node);
  if (node.type === 'ChainExpression') return isCall(node['expression'] as Node);
  return node.type === 'CallExpression' && (node['callee'] as Node).type !== 'Super' && !isLog(node['callee'] as Node);
}

function isText(node: Node): boolean {
  return node.type === 'TemplateLiteral' || typeof node['value'] === 'string';
}

function nameOf(node: unknown): string {
  return isNode(node) ? String(node['name']) : '';
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';
}
