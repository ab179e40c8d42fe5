import { task, wait } from "@trigger.dev/sdk";
import { createGuest, type GuestStart, type GuestStep } from "stepfold/guest";
import { triggerHost } from "stepfold/guest/trigger";
import { nodeDefinitions, visitors } from "../aws/visitors.ts";

const globals = { serviceUrl: process.env.SERVICE_URL ?? "" };
const guest = createGuest({ workflows: [visitors], nodeDefinitions, globals });

/** Performs one step. A failure is a result too, and the workflow retries it; Trigger.dev repeats a run that died. */
export const step = task({
  id: "stepfold-step",
  retry: { maxAttempts: 10 },
  run: (payload: GuestStep) => guest.perform(payload),
});

/** Runs one execution. It sleeps until the next attempt is due or a command arrives; while it sleeps nothing runs. */
export const workflow = task({
  id: "stepfold-workflow",
  retry: { maxAttempts: 10 },
  run: (start: GuestStart) => guest.run(triggerHost({ wait, step, workflowId: start.workflowId }), start),
});
