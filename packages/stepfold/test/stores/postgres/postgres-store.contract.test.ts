import { afterAll } from "vitest";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { benchesOver, poolOf, url } from "./postgres-bench.fixture.ts";

const pool = poolOf(20);
const admin = poolOf(2);
const { bench, drop } = benchesOver(pool, admin, true);
afterAll(async () => {
  await drop();
  await admin.end();
  await pool.end();
});

contractOf("postgres", { over: "pg Pool", url, atOnce: 8, bench });
