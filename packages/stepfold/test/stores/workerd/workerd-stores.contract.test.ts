import { fileURLToPath } from "node:url";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { brokenStores, snapshotStoreContract } from "../../../src/testing/index.ts";
import { contractRunBy, gateOf, type RanCase } from "../../testing/store-contract.fixture.ts";
import type { CaseReport } from "./case-report.ts";
import { openWorkerd } from "./workerd.fixture.ts";

let workerd: Miniflare;
beforeAll(async () => {
  workerd = await openWorkerd(fileURLToPath(new URL("contract-worker.ts", import.meta.url)), {
    d1Databases: [...snapshotStoreContract.keys()].flatMap((index) => [`OWN_${index}`, `SERVER_${index}`]),
    durableObjects: { CASES: { className: "Cases", useSQLite: true } },
  });
});
afterAll(() => workerd.dispose());

async function ask(path: string): Promise<CaseReport> {
  const response = await workerd.dispatchFetch(`http://worker/${path}`);
  const text = await response.text();
  if (response.status !== 200) throw new TypeError(text);
  return JSON.parse(text) as CaseReport;
}

/** Runs cases in workerd. */
function inWorkerd(kind: string): (contractCase: unknown, index: number) => Promise<RanCase> {
  return async (_, index) => {
    const { failure, ...ran } = await ask(`${kind}/${index}`);
    if (failure) throw Object.assign(new TypeError(failure.message), { name: failure.name, stack: failure.stack });
    return ran;
  };
}

contractRunBy("d1", { over: "in workerd", atOnce: 4, run: inWorkerd("d1") });
contractRunBy("d1", { over: "in workerd, by the database's clock", isOtherForm: true, atOnce: 2, run: inWorkerd("d1-clock") });
contractRunBy("durable-object", { over: "in workerd", atOnce: 4, run: inWorkerd("durable-object") });

describe("the contract in workerd", () => {
  // workerd has one thread, and ends a connection whose request it has not read after 15 s: all at once take longer on a slow machine
  const gate = gateOf(4);
  for (const [index, { name }] of brokenStores.entries()) {
    it.concurrent(`notices an object's store that ${name}`, async () => {
      const leave = await gate();
      const { failure } = await ask(`broken/${index}`).finally(leave);
      // any other error would be a mistake of the worker that runs the case
      expect(failure?.name).toMatch(/^(ContractViolation|StepfoldError)$/);
    });
  }
});
