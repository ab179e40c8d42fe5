import type { Group } from "../group.ts";
import type { Sample } from "../measure.ts";
import { peer } from "../peer.ts";

/** How long a fresh process takes to load something. */
async function loading(load: () => Promise<unknown>): Promise<Sample> {
  const from = performance.now();
  await load();
  return { ms: performance.now() - from };
}

const xstate = { name: "import of xstate", figure: { of: "xstate", key: "ms" } };

export const start: Group = {
  cases: {
    stepfold: { sample: () => loading(() => import("stepfold")) },
    durable: { sample: () => loading(() => Promise.all([import("stepfold/runtime"), import("stepfold/stores/sqlite")])) },
    xstate: { sample: () => loading(() => peer("xstate")) },
  },
  rows: [
    { work: "cold import of stepfold", figure: { of: "stepfold", key: "ms" }, unit: "ms", reference: xstate },
    { work: "cold import of stepfold/runtime and stores/sqlite", figure: { of: "durable", key: "ms" }, unit: "ms", reference: xstate },
  ],
};
