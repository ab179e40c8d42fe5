import { type ChildProcess, fork } from "node:child_process";
import { cpSync, existsSync, rmSync, symlinkSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { type Limit, type Load, loads } from "./compare-loads.ts";
import { folderVariable } from "./database.ts";
import { ownCheckout } from "./library.ts";
import { makeFolder } from "./machine.ts";
import { type Spread, sleep, spread } from "./measure.ts";

// Compares two builds of the library under the same load: node bench/compare.ts OTHER_CHECKOUT [LOAD...]
//
// Each build runs in a process of its own, and the two take turns in slices of some milliseconds, so that changes in the processor's
// speed affect both alike. In a single process both would share the optimizations of the compiler, which would distort the figures.

const usage = `node bench/compare.ts OTHER_CHECKOUT [LOAD...] [--rounds N]
node bench/compare.ts --self [LOAD...] [--rounds N]

OTHER_CHECKOUT  another version, built: npm run build
--self    this build beside a copy of itself: what is noise here
--rounds  how often each load is measured whose figures vary; default: 5, on servers 10
LOAD      default: all
          ${Object.keys(loads).join("\n          ")}`;

/** The medians of both builds in one round, and the median of the ratios of their slices (own / other). */
interface Pair {
  readonly other: number;
  readonly own: number;
  readonly ratio: number;
}

interface Line {
  readonly name: string;
  readonly cells: readonly string[];
  readonly kept: boolean;
}

const { self, rounds, other, names } = chosen();
const folder = makeFolder();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));
const named = self ? ownCheckout : resolve(other);
if (![named, ownCheckout].every(isBuilt)) end("Both have to be built: npm run build");
const checkouts = [self ? copyOf(named) : named, ownCheckout];

const lines: Line[] = [];
for (const name of names) {
  const line = await compared(name, loads[name]!);
  console.error(line.cells.join("  "));
  lines.push(line);
}
console.log(`${tableOf(lines)}\n`);
if (named === ownCheckout) console.log("Both are the same build: this is the noise.");
const missed = lines.filter(({ kept }) => !kept).map(({ name }) => name);
console.log(missed.length > 0 ? `MISSED: ${missed.join(", ")}` : "All limits are kept.");
process.exitCode = missed.length > 0 ? 1 : 0;

function chosen(): { readonly self: boolean; readonly rounds: number | null; readonly other: string; readonly names: readonly string[] } {
  const { values, positionals } = parsed();
  if (values.help) end(usage, 0);
  const { self = false, rounds = null } = values;
  const [other = "", ...others] = self ? ["", ...positionals] : positionals;
  const unknown = others.filter((name) => !Object.hasOwn(loads, name));
  if (unknown.length > 0) end(`No load is named ${unknown.join(", ")}\n\n${usage}`);
  if (!self && other === "") end(usage);
  if (rounds !== null && !/^[1-9]\d*$/.test(rounds)) end(`--rounds is ${rounds}, not a number from 1 on\n\n${usage}`);
  return { self, rounds: rounds === null ? null : Number(rounds), other, names: others.length > 0 ? others : Object.keys(loads) };
}

function parsed() {
  try {
    const options = { self: { type: "boolean" }, rounds: { type: "string" }, help: { type: "boolean" } } as const;
    return parseArgs({ allowPositionals: true, options });
  } catch (error) {
    return end(`${(error as Error).message}\n\n${usage}`);
  }
}

function end(text: string, code = 2): never {
  (code === 0 ? console.log : console.error)(text);
  process.exit(code);
}

function isBuilt(checkout: string): boolean {
  return existsSync(join(checkout, "packages/stepfold/dist/index.js"));
}

/** Copies this build to another folder, and returns that folder. */
function copyOf(checkout: string): string {
  const copy = join(folder, "copy");
  for (const part of ["package.json", "dist"]) {
    cpSync(join(checkout, "packages/stepfold", part), join(copy, "packages/stepfold", part), { recursive: true });
  }
  symlinkSync(join(checkout, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** Measures a load in all its rounds, and returns its line of the table. */
async function compared(name: string, load: Load): Promise<Line> {
  const pairs: Pair[] = [];
  try {
    const { rounds: how } = load.turns;
    const all = how === "once" ? 1 : (rounds ?? load.rounds);
    const atOnce = how === "fresh" ? 1 : all;
    for (let isOwnFirst = false; pairs.length < all; isOwnFirst = !isOwnFirst) {
      pairs.push(...(await roundsOf(name, load, atOnce, isOwnFirst)));
    }
  } catch (error) {
    return { name, cells: [name, "not measured", (error as Error).message, "", "", "", "MISSED"], kept: false };
  }
  const ratio = spread(pairs.map((pair) => pair.ratio));
  const kept = isKept(load.limit, ratio);
  const figures = [pairs.map((pair) => pair.other), pairs.map((pair) => pair.own)].map((all) => figure(spread(all).median));
  const cells = [name, ...figures, load.unit, ratioText(ratio), limitText(load.limit), kept ? "ok" : "MISSED"];
  return { name, cells, kept };
}

/**
 * Measures rounds with one pair of processes. A round holds the median of each build, and the median of the ratios slice by slice.
 * @param isOwnFirst whether this build begins; this alternates between pairs of processes, so that beginning favours neither build
 */
async function roundsOf(name: string, { turns }: Load, rounds: number, isOwnFirst: boolean): Promise<readonly Pair[]> {
  const children: ChildProcess[] = [];
  try {
    // the processes warm up one after the other, because they would disturb each other side by side
    for (const checkout of isOwnFirst ? checkouts.toReversed() : checkouts) children.push(await warm(checkout, name));
    const pairs: Pair[] = [];
    while (pairs.length < rounds) pairs.push(await round(children, isOwnFirst, turns));
    return pairs;
  } finally {
    for (const child of children) await ended(child);
  }
}

async function warm(checkout: string, name: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "compare-child.ts"), [checkout, name], {
    env: { ...process.env, [folderVariable]: folder },
    execArgv: ["--disable-warning=ExperimentalWarning", ...process.execArgv],
  });
  await answer(child);
  return child;
}

async function round(children: readonly ChildProcess[], isOwnFirst: boolean, { slices, pauseMs }: Load["turns"]): Promise<Pair> {
  const figures: number[][] = children.map(() => []);
  for (let i = 0; i < slices; i++) {
    for (const [index, child] of children.entries()) {
      if (pauseMs !== undefined) await sleep(pauseMs);
      const figure = answer(child);
      child.send(true);
      figures[index]!.push(Number(await figure));
    }
  }
  const [other = [], own = []] = isOwnFirst ? figures.toReversed() : figures;
  const ratios = own.map((figure, index) => figure / other[index]!);
  return { other: spread(other).median, own: spread(own).median, ratio: spread(ratios).median };
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

/** Ends the process and waits until it has removed its data, so that this does not disturb the next measurement. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once("exit", resolve));
  if (child.connected) child.disconnect();
  await exit;
}

function isKept({ median, least }: Limit, ratio: Spread): boolean {
  return ratio.median <= median && (least === undefined || ratio.least < least);
}

function tableOf(lines: readonly Line[]): string {
  const rows = [["load", "other", "this", "unit", "this / other (least to most)", "limit", ""], ...lines.map(({ cells }) => cells)];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function ratioText({ median, least, most }: Spread): string {
  return `${median.toFixed(3)} (${least.toFixed(3)} to ${most.toFixed(3)})`;
}

function limitText({ median, least }: Limit): string {
  return `<= ${median.toFixed(2)}${least === undefined ? "" : `, least < ${least.toFixed(2)}`}`;
}

/** Formats a figure with four significant digits. */
function figure(value: number): string {
  return value >= 1_000 ? value.toFixed(0) : value.toPrecision(4);
}
