// A page attacks the limits on what it may cost, against a strict stand-in for the provider. Reports what each attack cost beyond the limit.
import { runCampaign } from '../support/run.mjs';

const usage = `Options:
  --only <text>  only the attacks whose name has this
  --markdown     the table as docs/security.md has it`;

/** Runs the campaign. Sets a failing exit code when an attack exceeded its limit. */
export function run(args) {
  return runCampaign(import.meta.url, args, usage, { only: '', markdown: false });
}
