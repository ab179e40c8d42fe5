import { PGlite } from "@electric-sql/pglite";
import { afterAll } from "vitest";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { benchesOver } from "./postgres-bench.fixture.ts";

const pglite = new PGlite();
const { bench } = benchesOver(pglite);
afterAll(() => pglite.close());

// PGlite works in this thread, so cases that run at once take time from each other's leases
contractOf("pglite", { over: "in memory", isOtherForm: true, atOnce: 2, bench });
