import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { otherVariable } from "../database.ts";
import type { Group, Row } from "../group.ts";
import { type Case, type Sample, spread } from "../measure.ts";
import { packedLibrary } from "../packed.ts";
import { PeerMissing } from "../peer.ts";

const other = process.env[otherVariable];
const bench = join(import.meta.dirname, "..");
const runs = 7;

const stepfold = 'import "stepfold";';
const durable = 'import "stepfold/runtime"; import "stepfold/stores/sqlite";';

/**
 * Measures how much longer a process takes that runs `code` in a folder than a process that runs nothing. It compares the shortest
 * times, which other processes disturb least.
 */
function importing(code: string, folder: () => string): Case {
  return {
    sample: async (): Promise<Sample> => {
      const cwd = folder();
      const times = Array.from({ length: runs }, () => ({ with: msOf(code, cwd), without: msOf("", cwd) }));
      return { ms: spread(times.map((time) => time.with)).least - spread(times.map((time) => time.without)).least };
    },
  };
}

function msOf(code: string, cwd: string): number {
  const from = performance.now();
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "--eval", code], { cwd, encoding: "utf8" });
  if (status !== 0) throw new TypeError(stderr);
  return performance.now() - from;
}

function ofXstate(): string {
  if (!existsSync(join(bench, "node_modules/xstate"))) throw new PeerMissing("xstate");
  return bench;
}

const thisLibrary = (): string => packedLibrary(join(bench, ".."));

function rowsOf(work: string, name: string, atMost: number): Row[] {
  const figure = { of: name, key: "ms" };
  const row: Row = { work, figure, unit: "ms", target: { of: "figure", atMost } };
  if (other === undefined) return [{ ...row, reference: { name: "import of xstate", figure: { of: "xstate", key: "ms" } } }];
  const reference = { name: `the same of ${other}`, figure: { of: `${name} of the other`, key: "ms" } };
  return [row, { work, figure, unit: "ms", reference, target: { of: "ratio", atMost: 0.3 } }];
}

function casesOfOther(checkout: string): Record<string, Case> {
  const folder = (): string => packedLibrary(checkout);
  return { "stepfold of the other": importing(stepfold, folder), "durable of the other": importing(durable, folder) };
}

export const start: Group = {
  cases: {
    stepfold: importing(stepfold, thisLibrary),
    durable: importing(durable, thisLibrary),
    ...(other === undefined ? { xstate: importing('import "xstate";', ofXstate) } : casesOfOther(other)),
  },
  rows: [
    ...rowsOf("cold import of stepfold", "stepfold", 20),
    ...rowsOf("cold import of stepfold/runtime and stores/sqlite", "durable", 30),
  ],
};
