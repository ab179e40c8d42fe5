import type { EpochMs } from "../../core/values/json.ts";
import { nodeModule } from "./node-module.ts";

/** A clock and a chance that differ from those of the process. */
export interface Bend {
  /** What the clock shows at first. */
  readonly startAt: EpochMs;
  /** How far each reading moves it, in milliseconds. */
  readonly stepMs: number;
  /** What chance gives: 0 to 1, without 1. */
  readonly chance: number;
}

interface Bending extends Bend {
  readings: number;
}

/** What of `AsyncLocalStorage` is needed. */
interface Storage {
  run<T>(bending: Bending, work: () => T): T;
  getStore(): Bending | undefined;
}

let storage: Storage | null = null;
/** How many works run under another clock: while there are some, the clock of the process asks for which of them it is read. */
let bent = 0;

/**
 * Runs work for which `Date` and `Math.random` give something else than for the rest of the process. What the clock decides then comes out differently.
 * Without `node:async_hooks` the work just runs.
 */
export async function underBend<T>(bend: Bend, work: () => Promise<T>): Promise<T> {
  storage ??= newStorage();
  const asked = storage;
  if (!asked) return work();
  const restore = bent++ === 0 ? replaceGlobals(asked) : () => undefined;
  restores.push(restore);
  try {
    return await asked.run({ ...bend, readings: 0 }, work);
  } finally {
    if (--bent === 0) for (const undo of restores.splice(0)) undo();
  }
}

const restores: (() => void)[] = [];

function newStorage(): Storage | null {
  const hooks = nodeModule("node:async_hooks");
  return hooks && new hooks.AsyncLocalStorage<Bending>();
}

function replaceGlobals(asked: Storage): () => void {
  const { Date: RealDate, Math: math } = globalThis;
  const { random } = math;
  const now = (bending: Bending): number => bending.startAt + bending.stepMs * bending.readings++;
  const date = new Proxy(RealDate, {
    construct(target, given: unknown[], made) {
      const bending = given.length === 0 ? asked.getStore() : undefined;
      return Reflect.construct(target, bending ? [now(bending)] : given, made) as object;
    },
    apply(target, self, given) {
      const bending = asked.getStore();
      return bending ? new target(now(bending)).toString() : Reflect.apply(target, self, given);
    },
    get(target, key) {
      const bending = key === "now" ? asked.getStore() : undefined;
      return bending ? () => now(bending) : Reflect.get(target, key);
    },
  });
  const bentRandom = (): number => asked.getStore()?.chance ?? random();
  globalThis.Date = date;
  math.random = bentRandom;
  return () => {
    // another one may have replaced them meanwhile, such as the fake timers of a test runner
    if (globalThis.Date === date) globalThis.Date = RealDate;
    if (math.random === bentRandom) math.random = random;
  };
}
