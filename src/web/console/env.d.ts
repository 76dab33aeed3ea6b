/** What each error code means, in a few words: put in by the build (scripts/build-web.mjs) from the rows in src/protocol/errors. */
declare const ERROR_LABELS: Readonly<Record<string, string>>;
