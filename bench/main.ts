import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { arch, loadavg, platform } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { folderVariable, otherVariable } from "./database.ts";
import type { Group } from "./group.ts";
import { groups } from "./groups.ts";
import { describeMachine, type Machine, makeFolder } from "./machine.ts";
import type { Sample } from "./measure.ts";
import { failedLines, type Line, linesOf, tableOf } from "./table.ts";

const usage = `node bench/main.ts [NAME...] [--rounds N] [--other CHECKOUT] [--json]

NAME    ${Object.keys(groups).join(", ")}; default: all
--rounds  how often each case is measured, default 5
--other   a checkout of another version, built: the group start measures it beside this one
--json    also writes bench/results/*.json`;

/** The time limit of a case that has none of its own, in milliseconds. */
const usualMs = 60_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, other: { type: "string" }, rounds: { type: "string", default: "5" }, help: { type: "boolean" } },
});
const names = positionals.length > 0 ? positionals : Object.keys(groups);
const rounds = Number(values.rounds);
if (values.help || names.some((name) => !groups[name]) || !Number.isInteger(rounds) || rounds < 1) end(usage, values.help ? 0 : 2);
if (!existsSync(fileURLToPath(import.meta.resolve("stepfold")))) end("The library is not built: npm run build", 2);

if (values.other) process.env[otherVariable] = resolve(values.other);

const folder = makeFolder();
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
process.once("SIGINT", () => process.exit(130));
const machine = describeMachine(folder);
console.log(`${headline(machine)}\n`);

const loaded = new Map<string, Group>();
for (const name of names) loaded.set(name, await groups[name]!());
const samples = new Map(names.map((name) => [name, new Map<string, Sample[]>()]));
const problems = new Set<string>();
for (let round = 0; round < rounds; round++) await measureOnce(round);

const lines = new Map<string, readonly Line[]>();
for (const [name, { rows }] of loaded) lines.set(name, linesOf(rows, samples.get(name)!));
console.log(tableOf([...lines.values()].flat()));
console.log();
for (const [name, { notes }] of loaded) for (const note of notes?.(samples.get(name)!) ?? []) console.log(note);
for (const problem of problems) console.log(problem);
const [loadAfter = 0] = loadavg();
console.log(`Load average ${machine.loadBefore.toFixed(1)} before, ${loadAfter.toFixed(1)} after.`);
if (values.json) console.log(`Written: ${save()}`);
const failed = failedLines([...lines.values()].flat());
for (const { work, reached } of failed) console.error(`FAILED: ${work} ${reached === null ? "could not be measured" : "misses its limit"}`);
process.exitCode = failed.length > 0 ? 1 : 0;

/** Measures all cases once, so that other load on the machine affects all cases alike. */
async function measureOnce(round: number): Promise<void> {
  for (const [groupName, { cases }] of loaded) {
    for (const [caseName, { once, longestMs }] of Object.entries(cases)) {
      if (once && round > 0) continue;
      tell(`round ${round + 1} of ${rounds}: ${groupName} ${caseName}`);
      const sample = await sampleOf(groupName, caseName, longestMs);
      const own = samples.get(groupName)!;
      if (sample) own.set(caseName, [...(own.get(caseName) ?? []), sample]);
    }
  }
  tell("");
}

/** Measures a case in a process of its own. Returns null if it cannot be measured. */
async function sampleOf(groupName: string, caseName: string, longestMs = usualMs): Promise<Sample | null> {
  const runner = join(import.meta.dirname, "run-case.ts");
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", runner, groupName, caseName], {
    env: { ...process.env, [folderVariable]: folder },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: longestMs,
    killSignal: "SIGKILL",
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  if (code !== 0) {
    const reason = code === null ? `not done after ${longestMs / 1000} s` : errors.trim();
    problems.add(`${groupName} ${caseName}: ${reason}`);
    return null;
  }
  const { missing, ...sample } = JSON.parse(output) as Sample & { readonly missing?: unknown };
  if (missing === undefined) return sample;
  problems.add(`${groupName} ${caseName}: ${missing} is not installed: npm install --prefix bench`);
  return null;
}

/** Shows the progress on a terminal. */
function tell(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`);
}

function headline({ node, v8, sqlite, system, processor, processors, memoryGb, fileSystem }: Machine): string {
  return [
    `Stepfold bench: ${names.join(", ")}`,
    `Node ${node} (V8 ${v8}, SQLite ${sqlite}), ${system}, ${processors} x ${processor}, ${memoryGb} GB, databases on ${fileSystem}`,
    `${rounds} rounds over all cases, each case in a fresh process after a warm-up; medians; ratios within a round; SQLite: WAL, synchronous=FULL`,
  ].join("\n");
}

function save(): string {
  const results = join(import.meta.dirname, "results");
  mkdirSync(results, { recursive: true });
  const moment = new Date().toISOString();
  const name = `${moment.slice(0, 19).replaceAll(/[:T]/g, "-")}-node-${process.versions.node}-${platform()}-${arch()}.json`;
  const report = { moment, rounds, machine, loadAfter, lines: Object.fromEntries(lines), problems: [...problems] };
  writeFileSync(join(results, name), `${JSON.stringify(report, null, 2)}\n`);
  return `bench/results/${name}`;
}

function end(message: string, code: number): never {
  console[code ? "error" : "log"](message);
  process.exit(code);
}
