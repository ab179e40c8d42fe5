// Rows that another session has locked on PostgreSQL, and a transaction whose process stands still.
import { afterAll, describe, expect, it } from "vitest";
import { postgresStore } from "../../../src/stores/databases/postgres/index.ts";
import { startCommit, stepCommit } from "../../../src/testing/index.ts";
import { isGivenUpWithinLease, isNotMadeLater, isPassedOverByClaims, isPassedOverOnceLost } from "../locked-row.fixture.ts";
import { newSchema, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(8);
const schemas: string[] = [];
afterAll(async () => {
  for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`);
  await pool.end();
});

function fresh() {
  const schema = newSchema();
  schemas.push(schema);
  const lock = async () => {
    const other = await pool.connect();
    await other.query("BEGIN");
    await other.query(`SELECT 1 FROM "${schema}".executions WHERE id = 'locked' FOR UPDATE`);
    return async () => {
      await other.query("ROLLBACK");
      other.release();
    };
  };
  return { lock, store: postgresStore(pool, { schema, migrate: true }) };
}

describe.skipIf(url === null)("rows of PostgreSQL that another session has locked", () => {
  it("are not written after the writer was refused", { timeout: 30_000 }, async () => {
    const { store, lock } = fresh();
    await isNotMadeLater(store, lock);
  });

  it("are passed over by claims, also of executions that share a limit", { timeout: 30_000 }, async () => {
    const { store, lock } = fresh();
    await isPassedOverByClaims(store, lock);
  });

  it("are passed over by claims where the holder was lost", { timeout: 30_000 }, async () => {
    const { store, lock } = fresh();
    await isPassedOverOnceLost(store, lock);
  });

  it("are not waited for longer than a short lease", { timeout: 30_000 }, async () => {
    const { store, lock } = fresh();
    await isGivenUpWithinLease(store, lock);
  });

  it("are free again when the process that writes something alongside stands still", { timeout: 30_000 }, async () => {
    const { store } = fresh();
    const first = startCommit("a");
    await store.create(first);
    let isInside = (): void => undefined;
    let goOn = (): void => undefined;
    const inside = new Promise<void>((resolve) => {
      isInside = resolve;
    });
    const standing = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const frozen = store.commit({
      ...stepCommit(first),
      alongside: () => {
        isInside();
        return standing;
      },
    });
    const told = frozen.catch((error: unknown) => error);
    await inside;
    const { store: another } = { store: postgresStore(pool, { schema: schemas.at(-1)! }) };
    // this commit waits for the lock, and gets it when the server ends the other session
    await another.commit(stepCommit(first, { output: "another" }));
    goOn();
    expect(await told).toMatchObject({ code: "STORE_UNAVAILABLE" });
    const [, event] = await another.events("a", -1, 10);
    expect(event?.event).toMatchObject({ type: "completed" });
  });
});
