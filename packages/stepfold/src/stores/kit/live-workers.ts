import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import { sha256 } from "../../core/values/hash/sha256.ts";
import { areTaskQueues } from "../../core/values/ids/id.ts";
import type { LackedDefinition, LiveWorker, WorkerBeat } from "../../ports/store-workers.ts";
import type { ExecutionTable } from "./execution-table.ts";

/** The keys of the 16 records that hold the workers. The hash of a worker's name selects its record, so few workers write the same one. */
const parts: readonly string[] = [..."0123456789abcdef"];
/** How many times a beat is tried if other workers keep changing the record first. */
const maxTries = 100;
/** The most node types in one sign of life. */
const maxTypes = 1_000;
/** The most definitions that a process reports as lacking, and the most characters of each text about them. */
const maxLacks = 100;
const maxTextLength = 1_000;

/** The longest time that one sign of life may count, so that a dead process is not shown for ever. */
const maxAliveMs = 24 * 60 * 60 * 1000;

type Table = Pick<ExecutionTable, "name" | "records" | "read">;

/** Stores a sign of life, or removes the worker if `aliveMs` is 0. Also removes signs from the same record that have run out. */
export async function storeBeat(table: Table, { aliveMs, ...beat }: WorkerBeat): Promise<void> {
  const key = sha256(beat.owner)[0]!;
  for (let tries = 0; tries < maxTries; tries++) {
    const [found, { now }] = await Promise.all([table.records.get("worker", [key]), table.read([])]);
    const record = found.get(key) ?? null;
    const others = (record ? workersIn(record.text) : []).filter(({ owner, aliveUntil }) => owner !== beat.owner && aliveUntil > now);
    const workers = aliveMs > 0 ? [...others, { ...beat, aliveUntil: now + aliveMs }] : others;
    if (!record && workers.length === 0) return;
    const next = workers.length > 0 ? { revision: crypto.randomUUID(), text: JSON.stringify(workers) } : null;
    const [made] = await table.records.put("worker", [{ key, expected: record?.revision ?? null, next }]);
    if (made) return;
  }
  throw new StepfoldError("STORE_UNAVAILABLE", { store: table.name, reason: "other workers kept changing the same record" });
}

/** Returns the workers whose signs have not run out, sorted by name. */
export async function liveWorkers(table: Table): Promise<readonly LiveWorker[]> {
  const [found, { now }] = await Promise.all([table.records.get("worker", parts), table.read([])]);
  const all = [...found.values()].flatMap(({ text }) => workersIn(text));
  return all.filter(({ aliveUntil }) => aliveUntil > now).sort((a, b) => (a.owner < b.owner ? -1 : 1));
}

/** @throws StepfoldError `OPTION_INVALID` */
export function checkedBeat({ owner, since, aliveMs, slots, types, taskQueues, lacks }: WorkerBeat): WorkerBeat {
  const wrong = (option: string, reason: string): never => {
    throw new StepfoldError("OPTION_INVALID", { option, reason });
  };
  const isName = (value: unknown): value is string => typeof value === "string" && value.length > 0 && value.length <= 255;
  if (!isName(owner)) wrong("owner", "must be text of 1 to 255 characters");
  if (!Number.isFinite(since)) wrong("since", "must be epoch milliseconds");
  if (!Number.isFinite(aliveMs) || aliveMs < 0 || aliveMs > maxAliveMs) wrong("aliveMs", `must be 0 to ${maxAliveMs} milliseconds`);
  if (!Number.isInteger(slots) || slots < 0) wrong("slots", "must be a whole number, at least 0");
  if (!Array.isArray(types) || types.length > maxTypes || !types.every(isName)) wrong("types", `must be at most ${maxTypes} names`);
  if (taskQueues !== undefined && !areTaskQueues(taskQueues)) wrong("taskQueues", "must be 1 to 100 names of letters, digits, _ and -");
  if (lacks !== undefined && !(Array.isArray(lacks) && lacks.length <= maxLacks && lacks.every(isLacked)))
    wrong("lacks", `must be at most ${maxLacks} definitions with hash, workflow, code, message and since`);
  return {
    ...{ owner, since, aliveMs: Math.ceil(aliveMs), slots, types: [...types] },
    ...(taskQueues && { taskQueues: [...taskQueues] }),
    ...(lacks && { lacks: lacks.map(({ hash, workflow, code, message, since: at }) => ({ hash, workflow, code, message, since: at })) }),
  };
}

function isLacked(value: unknown): value is LackedDefinition {
  const isText = (text: unknown): boolean => typeof text === "string" && text.length <= maxTextLength;
  if (typeof value !== "object" || value === null) return false;
  const { hash, workflow, code, message, since } = value as Partial<LackedDefinition>;
  return [hash, workflow, code, message].every(isText) && Number.isFinite(since);
}

function workersIn(text: string): readonly LiveWorker[] {
  return JSON.parse(text) as readonly LiveWorker[];
}
