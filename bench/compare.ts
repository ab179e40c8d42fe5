import { type ChildProcess, fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { spread } from "./measure.ts";

// Two builds of the library under the same load: node bench/compare.ts OTHER_CHECKOUT [LOAD...]
//
// Each build is in a process of its own, and they take turns in slices of some milliseconds, so that a processor which
// changes its pace meets both alike. In one process they would share what the compiler learned, and the figure would lie.

const [other, ...chosen] = process.argv.slice(2);
const loads = chosen.length > 0 ? chosen : ["memory-10", "memory-10-sync", "memory-1000", "sqlite-1", "sqlite-50"];
const sets = 5;
const slices = 150;

const checkouts = [resolve(other ?? ""), resolve(import.meta.dirname, "..")];
if (other === undefined || checkouts.some((checkout) => !existsSync(join(checkout, "packages/stepfold/dist/index.js")))) {
  console.error("node bench/compare.ts OTHER_CHECKOUT [LOAD...], both built: npm run build");
  process.exit(2);
}

console.log(`ns per step: the other build, this one, and this one's time as a share of the other's (${sets} pairs of processes)`);
for (const load of loads) {
  const pairs: Pair[] = [];
  for (let set = 0; set < sets; set++) pairs.push(await pair(load));
  const median = (of: (pair: Pair) => number): number => spread(pairs.map(of)).median;
  const { least, most } = spread(pairs.map(({ ratio }) => ratio));
  const figures = `${median((one) => one.before).toFixed(0)}  ${median((one) => one.after).toFixed(0)}`;
  console.log(`${load.padEnd(15)} ${figures}  ${median((one) => one.ratio).toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)})`);
}
if (checkouts[0] === checkouts[1]) console.log("Both are the same build: this is the noise.");

interface Pair {
  readonly before: number;
  readonly after: number;
  readonly ratio: number;
}

/** The medians of one pair of processes, and that of the ratios slice by slice. */
async function pair(load: string): Promise<Pair> {
  const children = checkouts.map((checkout) => fork(join(import.meta.dirname, "compare-child.ts"), [checkout, load]));
  // one warms up after the other: side by side they would disturb each other
  for (const child of children) await answer(child);
  const before: number[] = [];
  const after: number[] = [];
  for (let i = 0; i < slices; i++) {
    for (const [index, child] of children.entries()) {
      const figure = answer(child);
      child.send(true);
      (index === 0 ? before : after).push(Number(await figure));
    }
  }
  for (const child of children) child.send(false);
  const ratios = after.map((figure, index) => figure / before[index]!);
  return { before: spread(before).median, after: spread(after).median, ratio: spread(ratios).median };
}

function answer(child: ChildProcess): Promise<unknown> {
  return new Promise((answered, rejected) => {
    const ended = (code: number | null): void => rejected(new TypeError(`The process ended with ${code}`));
    child.once("exit", ended);
    child.once("message", (message) => {
      child.off("exit", ended);
      answered(message);
    });
  });
}
