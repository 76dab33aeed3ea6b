// oxlint-disable typescript/consistent-type-imports -- an ambient module can name relative ones in no other way
declare module '*.css';

/** A file's text, put in by the build. */
declare module '*?raw' {
  const text: string;
  export default text;
}

/** The example is JavaScript, so that it can be copied into any page. */
declare module '*/example.js' {
  type Session = import('../widget/api.ts').Session;
  type Show = import('./board.ts').Show;
  export function startWidget(
    options: import('../widget/api.ts').ConnectOptions,
    show: Show,
  ): Promise<Session | undefined>;
}
