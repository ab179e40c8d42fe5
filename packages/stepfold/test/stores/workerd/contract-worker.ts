// A worker that runs cases of the contract inside workerd, where the stores live. workerd.fixture.ts bundles it.
// GET /d1/7 runs case 7 on the database OWN_7, /d1-clock/7 runs it on SERVER_7 with the clock of the database, and /durable-object/7 runs
// it in a new object. /broken/7 runs the case that catches the broken store 7.
import type { D1Client } from "../../../src/stores/databases/d1/index.ts";
import { d1Store } from "../../../src/stores/databases/d1/index.ts";
import { durableObjectStore, type ObjectStorage } from "../../../src/stores/databases/durable-object/index.ts";
import { brokenStores, type ContractCase, isClaimed, type StoreBench, snapshotStoreContract } from "../../../src/testing/index.ts";
import type { CaseReport } from "./case-report.ts";

interface Objects {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

type Env = Readonly<Record<`${"OWN" | "SERVER"}_${number}`, D1Client>> & { readonly CASES: Objects };

const retentionMs = 1000;

/** A clock that moves only by `advance`. */
function ownClock(): { now(): number; advance(durationMs: number): Promise<void> } {
  let now = 1_000_000;
  return {
    now: () => now,
    advance: async (durationMs) => {
      now += durationMs;
    },
  };
}

function d1Bench(database: D1Client, isOwnClock: boolean): StoreBench {
  const clock = ownClock();
  const open = () => d1Store(database, { migrate: true, idempotencyRetentionMs: retentionMs, ...(isOwnClock && { now: clock.now }) });
  const wait = (durationMs: number) => new Promise<void>((resolve) => setTimeout(resolve, durationMs));
  return {
    store: open(),
    retentionMs,
    open: async () => open(),
    advance: isOwnClock ? clock.advance : wait,
    async damage(id) {
      await database.prepare("UPDATE executions SET head = '{' WHERE id = ?").bind(id).all();
    },
  };
}

function objectBench(storage: ObjectStorage): StoreBench {
  const { now, advance } = ownClock();
  const open = () => durableObjectStore(storage, { now, idempotencyRetentionMs: retentionMs, setAlarm: () => undefined });
  const damage = async (id: string) => void storage.sql.exec("UPDATE executions SET head = '{' WHERE id = ?", id);
  return { store: open(), retentionMs, open: async () => open(), advance, damage };
}

/** Runs a case. Cases that need several processes run too, because several parts of an object's program may each open the store. */
async function report(contractCase: ContractCase, bench: StoreBench): Promise<CaseReport> {
  const { features } = bench.store;
  const claimed = contractCase.needs === "multiProcess" || isClaimed(contractCase, bench);
  try {
    if (claimed) await contractCase.run(bench);
    return { features, isClaimed: claimed, failure: null };
  } catch (error) {
    const { name, message, stack } = error as Error;
    return { features, isClaimed: claimed, failure: { name, message, stack: stack ?? "" } };
  } finally {
    await bench.store.close();
  }
}

/** The object in which a case runs. Each case has a new object. */
export class Cases {
  readonly #storage: ObjectStorage;

  constructor({ storage }: { readonly storage: ObjectStorage }) {
    this.#storage = storage;
  }

  async fetch(request: Request): Promise<Response> {
    const [, kind, index] = new URL(request.url).pathname.split("/");
    const bench = objectBench(this.#storage);
    if (kind !== "broken") return Response.json(await report(snapshotStoreContract[Number(index)]!, bench));
    const { breaks, caughtBy } = brokenStores[Number(index)]!;
    const caught = snapshotStoreContract.find(({ name }) => name === caughtBy)!;
    const broken = { ...bench, store: breaks(bench.store), open: async () => breaks(await bench.open()), cut: async () => undefined };
    return Response.json(await report(caught, broken));
  }
}

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, kind, index] = pathname.split("/");
    if (!kind?.startsWith("d1")) return env.CASES.get(env.CASES.idFromName(pathname)).fetch(request);
    const isOwnClock = kind === "d1";
    const bench = d1Bench(env[`${isOwnClock ? "OWN" : "SERVER"}_${Number(index)}`]!, isOwnClock);
    return Response.json(await report(snapshotStoreContract[Number(index)]!, bench));
  },
};

export { worker as default };
