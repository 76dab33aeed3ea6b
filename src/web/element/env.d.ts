/** A style sheet as a text, put in by the build. */
declare module '*.css?inline' {
  const css: string;
  export default css;
}
