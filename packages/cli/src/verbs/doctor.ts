import { BadInput } from "../bad-input.ts";
import { chooseDatabase, openExistingDatabase, openQuietly, openSite } from "../database.ts";
import { type Examination, examine, promises, spacePrefix } from "../examine-store.ts";
import { exitCode } from "../exit-code.ts";
import { complain, say } from "../output.ts";
import { paintFor } from "../progress/paint.ts";

/** Options of `stepfold doctor`. */
export interface DoctorOptions {
  readonly store?: string;
  readonly quick?: boolean;
  readonly json?: boolean;
}

/**
 * `stepfold doctor`: whether a store answers, can be read, and keeps every promise that executions rely on. The promises
 * are tried in spaces of their own (schemas, prefixes, files), which are deleted again; executions are not touched.
 *
 * @returns the exit code
 */
export async function doctor(options: DoctorOptions): Promise<number> {
  const database = chooseDatabase(options.store);
  const paint = paintFor(process.stdout);
  const tell = (good: boolean, text: string): void => {
    if (!options.json) say(`${good ? paint("good", "✔") : paint("bad", "✖")} ${text}\n`);
  };
  const store = await openExistingDatabase(database, openQuietly);
  try {
    await store.list({ limit: 1 });
  } finally {
    await store.close();
  }
  tell(true, `${database.name} answers, and can be read`);
  if (options.quick) {
    if (options.json) say(`${JSON.stringify({ type: "examination", store: store.name, passed: 0, failed: [], notClaimed: 0 })}\n`);
    return exitCode.done;
  }
  const site = await openSite(database);
  let examination: Examination;
  try {
    if (!site.hasSpaces)
      throw new BadInput("USAGE", `Nothing can be tried beside the executions in ${database.name}: it has no schemas or prefixes`, {
        hint: "Give a database of its own with --store, or only look with --quick",
      });
    // those who watch would wait for half a minute, and on some stores longer
    if (!options.json && process.stderr.isTTY)
      complain(`Trying ${promises} promises in spaces named ${spacePrefix}…, which are deleted again\n`);
    examination = await examine(site);
  } finally {
    await site.close();
  }
  const { untried, ...counted } = examination;
  const { passed, failed, notClaimed } = counted;
  for (const { name, message } of failed) tell(false, `${name}\n  ${message}`);
  const why = untried.length > 0 ? ` (${untried.join(", ")})` : "";
  tell(failed.length === 0, `${store.name}: ${passed} passed, ${failed.length} failed, ${notClaimed} not tried${why}`);
  if (options.json) say(`${JSON.stringify({ type: "examination", store: store.name, ...counted })}\n`);
  return failed.length === 0 ? exitCode.done : exitCode.failed;
}
