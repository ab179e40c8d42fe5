import { agoText } from "stepfold/core";
import { exitCode } from "../exit-code.ts";
import { say } from "../output.ts";
import { paintFor } from "../text/paint.ts";
import { printable } from "../text/printable.ts";
import { tableLines } from "../text/table.ts";
import { chooseDatabase, openExistingDatabase } from "./database.ts";

/** Options of `stepfold workers`. */
export interface WorkersOptions {
  readonly store?: string;
  readonly json?: boolean;
}

/** `stepfold workers`: lists the processes that report that they run executions of a store. @returns the exit code */
export async function workers({ store: url, json }: WorkersOptions): Promise<number> {
  const database = chooseDatabase(url);
  const store = await openExistingDatabase(database);
  try {
    const items = (await store.workers?.()) ?? [];
    if (json) say(`${JSON.stringify({ type: "workers", items })}\n`);
    else if (items.length === 0) say(`No worker reports that it runs executions of ${database.name}\n`);
    else {
      const now = await store.now();
      const rows = items.map(({ owner, since, slots, types }) => [
        { text: printable(owner, 255) },
        { text: agoText(now - since), meaning: "quiet" as const },
        { text: `${slots}` },
        { text: printable(types.join(" "), 1_000) },
      ]);
      const head = ["WORKER", "SINCE", "AT ONCE", "NODE TYPES"];
      say(`${tableLines(head, rows, paintFor(process.stdout), process.stdout.columns).join("\n")}\n`);
    }
    return exitCode.done;
  } finally {
    await store.close();
  }
}
