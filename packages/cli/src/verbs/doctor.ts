import { BadInput } from "../bad-input.ts";
import { chooseDatabase, openExistingDatabase, openQuietly, openSite } from "../database.ts";
import { type Examination, examine } from "../examine-store.ts";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { paintFor } from "../progress/paint.ts";

/** Options of `stepfold doctor`. */
export interface DoctorOptions {
  readonly store?: string;
  readonly quick?: boolean;
  readonly json?: boolean;
}

/**
 * `stepfold doctor`: whether a store answers, has its tables, and keeps every promise that executions rely on. The promises
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
  tell(true, `${database.name} answers, and has its tables`);
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
    examination = await examine(site);
  } finally {
    await site.close();
  }
  const { passed, failed, notClaimed } = examination;
  for (const { name, message } of failed) tell(false, `${name}\n  ${message}`);
  tell(failed.length === 0, `${store.name}: ${passed} passed, ${failed.length} failed, ${notClaimed} not claimed`);
  if (options.json) say(`${JSON.stringify({ type: "examination", store: store.name, ...examination })}\n`);
  return failed.length === 0 ? exitCode.done : exitCode.failed;
}
