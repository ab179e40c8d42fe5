// A service for Restate that runs executions of the guests' test flows, in a process of its own that tests kill. The variable PORT holds
// its port, and EFFECTS_URL the URL of the outside service.
import { createServer } from "node:http2";
import * as restate from "@restatedev/restate-sdk";
import { type Command, defineNode, waits } from "stepfold";
import { createGuest, type GuestHost, type GuestMessage, type GuestStart } from "stepfold/guest";
import { restateHost, restateMailbox } from "stepfold/guest/restate";
import { builtinNodes } from "stepfold/nodes";
import { guestFlows } from "./guest-flows.ts";

const { PORT = "9080", EFFECTS_URL = "" } = process.env;

/** Calls the outside service, which performs each idempotency key once. The first `fails` attempts fail after the call. */
const act = defineNode({
  executor: async (data, step) => {
    const { fails = 0 } = (data ?? {}) as { readonly fails?: number };
    const headers = { "idempotency-key": step.idempotencyKey, "x-node": `${step.workflowId}/${step.nodeId}` };
    const response = await fetch(EFFECTS_URL, { method: "POST", headers, signal: step.signal });
    if (step.attempt <= fails) throw new Error("busy");
    return { data: await response.json() };
  },
});

/** Reports a refused message to the outside service too. */
const onRefused = ({ id }: GuestMessage, error: unknown, workflowId: string): void => {
  const headers = { "idempotency-key": id, "x-node": `${workflowId}/refused ${(error as { readonly code?: string }).code}` };
  void fetch(EFFECTS_URL, { method: "POST", headers });
};

const guest = createGuest({ workflows: guestFlows, nodeDefinitions: { ...builtinNodes, act }, onRefused });
const { RestatePromise } = restate;

const stepfold = restate.workflow({
  name: "stepfold",
  handlers: {
    run: (ctx: restate.WorkflowContext, start: Omit<GuestStart, "workflowId">) => {
      const host = restateHost({ ctx, guest, RestatePromise });
      const wait: GuestHost["wait"] = (until, pause) => {
        ctx.set(
          "waits",
          waits(pause.snapshot).map(({ address }) => address),
        );
        return host.wait(until, pause);
      };
      return guest.run({ ...host, wait }, { ...start, workflowId: ctx.key });
    },
    waits: (ctx: restate.WorkflowSharedContext) => ctx.get<readonly string[]>("waits"),
    send: (ctx: restate.WorkflowSharedContext, command: Command) => restateMailbox(ctx).send(command),
  },
});

createServer(restate.createEndpointHandler({ services: [stepfold] })).listen(Number(PORT), "127.0.0.1");
