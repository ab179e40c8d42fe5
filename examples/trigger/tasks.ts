import { task, wait } from "@trigger.dev/sdk";
import { createGuest, type GuestStart, type GuestStep } from "stepfold/guest";
import { triggerHost } from "stepfold/guest/trigger";
import { nodeDefinitions, visitors } from "../aws/visitors.ts";

const globals = { serviceUrl: process.env.SERVICE_URL ?? "" };
const guest = createGuest({ workflows: [visitors], nodeDefinitions, globals });

/** One step. What fails is an answer too, and retried by the workflow; Trigger.dev repeats what died. */
export const step = task({
  id: "stepfold-step",
  retry: { maxAttempts: 10 },
  run: (payload: GuestStep) => guest.perform(payload),
});

/** One execution. It sleeps until the next attempt is due, or until it is sent a command; while it sleeps nothing runs. */
export const workflow = task({
  id: "stepfold-workflow",
  retry: { maxAttempts: 10 },
  run: (start: GuestStart) => guest.run(triggerHost({ wait, step, workflowId: start.workflowId }), start),
});
