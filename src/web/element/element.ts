import { RIGHT_TO_LEFT } from '../../protocol/error-translations/languages.ts';
import type { Session, SessionEvents, ToolHandlers } from '../widget/api.ts';
import type { SwitchboardWidgetElement, Texts } from './api.ts';
import { atRest, converse, type Conversation } from './conversation.ts';
import { solveChallenge } from './solve-challenge.ts';
import { applyStyles } from './styles.ts';
import { applyLooks, askAgent, unknown, type Disclosure } from './disclosure.ts';
import { keepToken, takeToken, type ResumePoint } from './resume.ts';
import type * as Talk from './in-call/main.ts';
import { createView, type View } from './view.ts';
import { chooseLanguage, wordsOf } from './translations/choose-language.ts';
import { withTexts } from './translations/message-types.ts';

const NAME = 'switchboard-widget';
const ATTRIBUTES = ['language', 'placement', 'consent', 'captions', 'open'] as const;

/** Defines the element, unless the page has it already. @param home Switchboard's address, unless an attribute says otherwise */
export function defineElement(home: string): void {
  if (customElements.get(NAME) !== undefined) return;

  /** What pages may use of it is described in api.ts. */
  class SwitchboardWidget extends HTMLElement implements SwitchboardWidgetElement {
    static readonly observedAttributes = ATTRIBUTES;
    declare tools?: ToolHandlers;
    #texts: Texts = {};
    #conversation: Conversation | undefined;
    /** Whether the visitor writes. Then the next conversation does not ask for the microphone either. */
    #isWritten = false;
    /** What visitors must be told about the agent, and how the element looks; undefined until the server has answered. */
    #disclosure: Disclosure | undefined;
    /** The key and agent that the server was asked about. */
    #askedOf: string | undefined;
    /** What to begin once the disclosure is known. */
    #waiting: (() => void) | undefined;
    /** The consent text that the visitor agreed to. */
    #agreed = '';
    #clock: ReturnType<typeof setInterval> | undefined;
    /** Whether the element has been on the page. Before that, the parser sets the attributes of an element in the page's HTML one by one. */
    #wasShown = false;
    readonly #view: View;

    constructor() {
      super();
      this.#view = createView({
        open: () => (this.open = true),
        close: () => (this.open = false),
        start: () => (this.#disclosure ? this.#begin() : this.start()),
        end: () => void this.end(),
        mute: (on) => this.mute(on),
        captions: (on) => this.setAttribute('captions', on ? 'on' : 'off'),
        send: (text) => this.#conversation?.send(text),
        interrupt: () => this.#conversation?.interrupt(),
        talk: (on) => this.#conversation?.talk(on),
        use: (deviceId) => this.#conversation?.use(deviceId),
        write: (on) => this.#write(on),
        rate: async (value) => this.#conversation?.session?.rate(value),
      });
      const root = this.attachShadow({ mode: 'open' });
      root.append(this.#view.element);
      applyStyles(root, home);
    }

    connectedCallback(): void {
      // A property that the page set before this script was loaded hides the accessor.
      if (Object.hasOwn(this, 'texts')) {
        this.#texts = this.texts;
        delete (this as { texts?: Texts }).texts;
      }
      this.#wasShown = true;
      this.#show();
      addEventListener('pageshow', this.#goOn);
      this.#goOn();
    }

    disconnectedCallback(): void {
      // An element that is only moved is back within the same task.
      queueMicrotask(() => {
        if (this.isConnected) return;
        removeEventListener('pageshow', this.#goOn);
        void this.end();
        // Stops the clock, which nobody sees any more.
        this.#show();
      });
    }

    attributeChangedCallback(_name: string, before: string | null, now: string | null): void {
      if (before !== now) this.#show();
    }

    get open(): boolean {
      return this.hasAttribute('open');
    }

    set open(on: boolean) {
      this.toggleAttribute('open', on);
    }

    get texts(): Texts {
      return this.#texts;
    }

    set texts(texts: Texts) {
      this.#texts = texts ?? {};
      this.#show();
    }

    get session(): Session | undefined {
      const { state, session } = this.#conversation ?? {};
      return state?.phase === 'over' ? undefined : session;
    }

    get muted(): boolean {
      return this.#conversation?.state.isMuted ?? false;
    }

    start(): void {
      this.open = true;
      this.#whenKnown(() => this.#consent === '' && this.#begin());
    }

    write(): void {
      if (this.#isLive) this.#conversation?.write(true);
      else this.#isWritten = true;
      this.start();
    }

    /** Waits for the server, which may have a consent line for this agent. */
    #whenKnown(begin: () => void): void {
      if (this.#disclosure) begin();
      else this.#waiting ??= begin;
    }

    async end(): Promise<void> {
      this.#waiting = undefined;
      await this.#conversation?.end();
    }

    mute(on = true): void {
      this.#conversation?.mute(on);
    }

    get #consent(): string {
      const text = this.getAttribute('consent')?.trim() ?? '';
      return text === this.#agreed ? '' : text;
    }

    get #language(): ReturnType<typeof chooseLanguage> {
      const around = this.closest<HTMLElement>('[lang]')?.lang ?? document.documentElement.lang;
      return chooseLanguage([this.getAttribute('language'), around, ...navigator.languages]);
    }

    /** The page's own direction, if it sets one; otherwise that of the language. */
    get #direction(): string {
      const said = this.closest('[dir]') ?? document.documentElement.dir;
      return !said && RIGHT_TO_LEFT.includes(this.#language) ? 'rtl' : '';
    }

    /** Continues the conversation of the previous page, if there is one; also on a page that the browser kept for the Back button. */
    readonly #goOn = (): void => {
      const kept = this.#mayResume ? takeToken(this.#kept) : undefined;
      if (kept === undefined) return;
      this.#isWritten = kept.isWritten;
      this.#whenKnown(() => this.#begin(kept));
    };

    get #isLive(): boolean {
      const { phase } = this.#conversation?.state ?? atRest;
      return phase === 'connecting' || phase === 'live';
    }

    #write(on: boolean): void {
      if (this.#isLive) return this.#conversation?.write(on);
      this.#isWritten = on;
      this.#begin();
    }

    get #mayResume(): boolean {
      return this.getAttribute('resume') !== 'off';
    }

    /** The name under which the token is kept between two pages. */
    get #kept(): string {
      return `switchboard ${this.getAttribute('widget-key')} ${this.getAttribute('agent-id')}`;
    }

    #attribute(name: string): string | undefined {
      return this.getAttribute(name) || undefined;
    }

    get #baseUrl(): string {
      return this.#attribute('base-url') ?? home;
    }

    /** Asks the server once about each agent. The reply may be up to a minute old. */
    #ask(): void {
      const agent = this.#kept;
      if (this.#askedOf === agent) return;
      this.#askedOf = agent;
      void askAgent(this.#baseUrl, this.#attribute('widget-key'), this.#attribute('agent-id')).then((disclosure) => {
        if (this.#askedOf !== agent) return;
        this.#disclosure = disclosure;
        applyLooks(this, disclosure);
        this.#show();
        this.#waiting?.();
        this.#waiting = undefined;
      });
    }

    #begin(resumed?: ResumePoint): void {
      if (this.#isLive || !this.isConnected) return;
      this.#agreed = this.getAttribute('consent')?.trim() ?? '';
      this.#view.clear();
      const kept = this.#kept;
      const own = converse(
        {
          baseUrl: this.#baseUrl,
          widgetKey: this.#attribute('widget-key'),
          tenantId: this.#attribute('tenant-id'),
          agentId: this.#attribute('agent-id'),
          email: this.#attribute('email'),
          language: this.#language,
          tools: this.tools,
          resume: resumed?.token,
          keep: this.#mayResume ? (token) => keepToken(kept, { token, isWritten: own.state.isWritten }) : undefined,
        },
        this.#isWritten,
        {
          change: ({ isWritten }) => {
            if (own !== this.#conversation) return;
            this.#isWritten = isWritten;
            this.#show();
          },
          tell: (type, detail) => this.#tell(type, detail, own),
          solve: (error) => solveChallenge(error, home, this.#baseUrl, this.#attribute('widget-key'), this.#language),
        },
      );
      this.#conversation = own;
      this.#show();
      void this.#loadTalk();
    }

    /** Loads the optional parts. If that fails, the conversation works without them. */
    async #loadTalk(): Promise<void> {
      try {
        const file: typeof Talk = await import(/* @vite-ignore */ `${home}switchboard-widget-talk.mjs`);
        this.#view.mount(file.mountTalk);
      } catch {}
    }

    #tell<T extends keyof SessionEvents>(type: T, detail: SessionEvents[T], from: Conversation): void {
      if (from === this.#conversation) {
        if (type === 'level') this.#view.level(detail as SessionEvents['level']);
        if (type === 'transcript') this.#view.caption(detail as SessionEvents['transcript']);
        const { text } = detail as SessionEvents['error'];
        if (type === 'error' && text) this.#view.unsaid(text);
      }
      this.dispatchEvent(new CustomEvent(`switchboard-${type}`, { bubbles: true, composed: true, detail }));
    }

    #show(): void {
      if (!this.#wasShown) return;
      this.#ask();
      const isInline = this.getAttribute('placement') === 'inline';
      // Waits for the server rather than show another look for a moment. An inline element shows at once, so that nothing around it moves later.
      const { tellAi, push, element } = this.#disclosure ?? unknown;
      if (!this.#disclosure && !isInline) return;
      const language = this.#language;
      const words = wordsOf(language, home, () => this.#show());
      if (words === undefined) return;
      const state = this.#conversation?.state ?? atRest;
      this.#view.show({
        state,
        words: withTexts(withTexts(words, element?.texts ?? {}), this.#texts),
        language,
        direction: this.#direction,
        isOpen: this.open,
        isInline,
        hasCaptions: this.getAttribute('captions') !== 'off',
        tellsAi: tellAi,
        isPush: push,
        consent: this.#consent,
      });
      const isCounting = this.isConnected && (state.warning !== undefined || state.retryAtMs !== undefined);
      if (isCounting === (this.#clock !== undefined)) return;
      clearInterval(this.#clock);
      this.#clock = isCounting ? setInterval(this.#view.tick, 1000) : undefined;
    }
  }

  customElements.define(NAME, SwitchboardWidget);
}
