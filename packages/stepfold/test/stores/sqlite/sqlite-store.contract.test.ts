import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { contractOf } from "../../testing/store-contract.fixture.ts";
import { sqliteBench } from "./sqlite-bench.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "stepfold-sqlite-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

contractOf("sqlite", { over: "a file", bench: async (index) => sqliteBench(join(folder, `${index}.db`)) });
contractOf("sqlite", { over: "memory", bench: async () => sqliteBench(":memory:") });
