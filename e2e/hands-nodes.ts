// The code of nodes. When this module is loaded it writes a line to a file, so that the test sees whether a process has loaded it.
import { appendFileSync } from "node:fs";
import { defineNode } from "stepfold";
import { builtinNodes } from "stepfold/nodes";
import { z } from "zod";

appendFileSync(process.env.HANDS_LOG!, `loaded by ${process.env.HANDS_ROLE}\n`);

const even = z.object({
  amount: z
    .int()
    .min(1)
    .refine((amount) => amount % 2 === 0, "must be even"),
});

export const nodeDefinitions = {
  ...builtinNodes,
  pay: defineNode({
    resume: even,
    executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend("pay?")),
  }),
  flaky: defineNode({
    retryPolicy: { maxAttempts: 2, interval: "1 day", backoff: "fixed" },
    executor: (_data, step) => {
      if (step.attempt < 2) throw new TypeError("not yet");
      return { data: "done" };
    },
  }),
};
