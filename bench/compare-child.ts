import { loads } from "./compare-loads.ts";
import { withDatabase } from "./database.ts";
import { libraryOf } from "./library.ts";

// Measures one build under one load, in a process of its own, for compare.ts: node bench/compare-child.ts CHECKOUT LOAD.
// The process answers each message `true` with the figure of one slice. Any other message, or the end of the parent, ends the process.

const [checkout = "", loadName = ""] = process.argv.slice(2);
const { open, turns } = loads[loadName]!;
const ends: (() => Promise<void>)[] = [];

// Ctrl+C reaches parent and child: the child ignores it, notices that the parent is gone, cleans up and ends
process.on("SIGINT", () => undefined);

await withDatabase(async (path) => {
  try {
    const slice = await open({ library: libraryOf(checkout), path, atEnd: (work) => ends.unshift(work) });
    const warmUntil = performance.now() + turns.warmMs;
    while (performance.now() < warmUntil && process.connected) await slice();
    tell("warm");
    while (await isAskedForMore()) tell(await slice());
  } finally {
    for (const end of ends) await end();
  }
});
process.exit();

function tell(message: string | number): void {
  if (process.connected) process.send!(message);
}

function isAskedForMore(): Promise<boolean> {
  if (!process.connected) return Promise.resolve(false);
  return new Promise((resolve) => {
    const answered = (message?: unknown): void => {
      process.off("message", answered).off("disconnect", answered);
      resolve(message === true);
    };
    process.once("message", answered).once("disconnect", answered);
  });
}
