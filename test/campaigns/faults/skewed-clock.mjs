/** Preloaded into a node (`--import`): sets its clock wrong by the milliseconds in the query. */
const wrongMs = Number(new URL(import.meta.url).searchParams.get('ms'));
const TrueDate = Date;

globalThis.Date = class extends TrueDate {
  constructor(...args) {
    if (args.length === 0) super(TrueDate.now() + wrongMs);
    else super(...args);
  }

  static now() {
    return TrueDate.now() + wrongMs;
  }
};
