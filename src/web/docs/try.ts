import { addCopyButtons } from '../shared/copy.ts';
import { ask, type Answer } from './answer.ts';

/** A parameter as in openapi.json, from which a form field is made. */
interface Parameter {
  readonly in: 'path' | 'query' | 'header';
  readonly name: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Schema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly examples?: readonly unknown[];
}

type Paths = Readonly<Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>>;

let paths: Promise<Paths> | undefined;

/** Adds a button for trying it on this server to each read-only operation; the server marks these with `data-try`. */
export function startTrying(): void {
  for (const place of document.querySelectorAll<HTMLElement>('[data-try]')) {
    const button = make('button', { type: 'button', className: 'try', textContent: 'Try it' });
    button.setAttribute('aria-expanded', 'false');
    button.addEventListener('click', () => void toggle(place, button));
    place.append(button);
  }
}

async function toggle(place: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const panel = panelAt(place) ?? (await makePanel(place, button));
  if (panel === undefined) return;
  const isOpen = button.getAttribute('aria-expanded') === 'true';
  button.setAttribute('aria-expanded', String(!isOpen));
  panel.hidden = isOpen;
  if (!isOpen) panel.querySelector<HTMLElement>('input, select, button')?.focus();
}

function panelAt({ nextElementSibling: next }: HTMLElement): HTMLElement | undefined {
  return next instanceof HTMLElement && next.matches('.trying') ? next : undefined;
}

async function makePanel(place: HTMLElement, button: HTMLButtonElement): Promise<HTMLElement | undefined> {
  const path = place.querySelector('code')?.textContent ?? '';
  button.disabled = true;
  try {
    place.after(panelOf(path, await parametersOf(path), exampleOf(place)));
    button.textContent = 'Try it';
  } catch {
    paths = undefined;
    button.textContent = 'No answer: try again';
  }
  button.disabled = false;
  return panelAt(place);
}

/** Reads openapi.json when somebody first wants to try an operation. */
async function parametersOf(path: string): Promise<readonly Parameter[]> {
  paths ??= fetch('/openapi.json').then(async (reply) => ((await reply.json()) as { readonly paths: Paths }).paths);
  const found = await paths;
  return found[path]?.get?.parameters ?? [];
}

/** The query of the curl example beside it, which works unchanged where there is a public demo key. */
function exampleOf(place: HTMLElement): URLSearchParams {
  const code = place.closest('.entry')?.querySelector('.only-curl pre')?.textContent ?? '';
  return new URLSearchParams(/\?([^\s'"]+)/.exec(code)?.[1] ?? '');
}

function panelOf(path: string, parameters: readonly Parameter[], example: URLSearchParams): HTMLFormElement {
  const fields = parameters.map((parameter) => ({ parameter, control: controlOf(parameter, example) }));
  const send = make('button', { type: 'submit', textContent: 'Send' });
  const outcome = make('p', { className: 'outcome' });
  outcome.setAttribute('role', 'status');
  const shown = make('div', {});
  const labels = fields.map(({ parameter: { name, in: place }, control }) => {
    const label = make('label', { textContent: place === 'query' ? name : `${name}, in the ${place}` });
    label.append(control);
    return label;
  });
  const form = make('form', { className: 'trying' });
  form.append(...labels, send, outcome, shown);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    send.disabled = true;
    const { address, headers } = requestOf(
      path,
      fields.map(({ parameter, control }) => [parameter, control.value]),
    );
    outcome.textContent = `GET ${address} …`;
    void ask(address, headers).then((answer) => {
      send.disabled = false;
      show(answer, outcome, shown);
    });
  });
  return form;
}

function controlOf(
  { name, required = false, schema }: Parameter,
  example: URLSearchParams,
): HTMLInputElement | HTMLSelectElement {
  if (schema.enum !== undefined) {
    const select = make('select', { required });
    select.append(...['', ...schema.enum].map((value) => new Option(value)));
    return select;
  }
  const [first = ''] = schema.examples ?? [];
  return make('input', {
    required,
    type: schema.type === 'integer' ? 'number' : 'text',
    placeholder: String(first),
    value: example.get(name) ?? '',
    autocomplete: 'off',
    spellcheck: false,
  });
}

/** Empty fields are left out. */
function requestOf(path: string, values: readonly (readonly [Parameter, string])[]) {
  const given = values.filter(([, value]) => value !== '');
  const query = new URLSearchParams(
    given.flatMap(([{ in: place, name }, value]) => (place === 'query' ? [[name, value]] : [])),
  );
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(given.find(([parameter]) => parameter.in === 'path' && parameter.name === name)?.[1] ?? ''),
  );
  const headers = Object.fromEntries(
    given.flatMap(([{ in: place, name }, value]) => (place === 'header' ? [[name, value]] : [])),
  );
  return { address: query.size === 0 ? filled : `${filled}?${query}`, headers };
}

function show({ needsLogin, outcome: told, head, body }: Answer, outcome: HTMLElement, shown: HTMLElement): void {
  outcome.textContent = told;
  if (needsLogin) outcome.append(' ', make('a', { href: '/console', textContent: 'Log in to the console' }), ' first.');
  shown.replaceChildren(
    ...[
      ['Headers', head],
      ['Body', body],
    ].flatMap(([title = '', text = '']) => (text === '' ? [] : [codeOf(title, text)])),
  );
}

/** Builds a code block like the examples of the page, so that the copy buttons work in it too. */
function codeOf(title: string, text: string): HTMLElement {
  const code = make('div', { className: 'code' });
  code.append(
    make('div', { className: 'code-title', textContent: title }),
    make('pre', { tabIndex: 0, ariaLabel: title, textContent: text }),
  );
  addCopyButtons(code);
  return code;
}

function make<K extends keyof HTMLElementTagNameMap>(
  name: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(name), properties);
}
