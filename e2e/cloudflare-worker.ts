// A worker for Cloudflare Workflows, which the test bundles and runs in workerd. The variable EFFECTS_URL holds the URL of the outside
// service.
import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "cloudflare:workers";
import type { Workflow } from "@cloudflare/workers-types";
import { type Command, defineNode } from "stepfold";
import { createGuest, type GuestEnd, type GuestStart } from "stepfold/guest";
import { cloudflareHost, cloudflareMailbox } from "stepfold/guest/cloudflare";
import { builtinNodes } from "stepfold/nodes";
import { guestFlows } from "./guest-flows.ts";

interface Env {
  readonly EFFECTS_URL: string;
  readonly STEPFOLD: Workflow<Start>;
}

type Start = Omit<GuestStart, "workflowId">;

/** Calls the outside service, which performs each idempotency key once. The first `fails` attempts fail after the call. */
const act = defineNode({
  executor: async (data, step) => {
    const { fails = 0 } = (data ?? {}) as { readonly fails?: number };
    const headers = { "idempotency-key": step.idempotencyKey, "x-node": `${step.workflowId}/${step.nodeId}` };
    const response = await fetch((step.globals as Pick<Env, "EFFECTS_URL">).EFFECTS_URL, { method: "POST", headers });
    if (step.attempt <= fails) throw new Error("busy");
    return { data: await response.json() };
  },
});

export class Stepfold extends WorkflowEntrypoint<Env, Start> {
  override run({ payload, instanceId }: Readonly<WorkflowEvent<Start>>, step: WorkflowStep): Promise<GuestEnd> {
    const guest = createGuest({ workflows: guestFlows, nodeDefinitions: { ...builtinNodes, act }, globals: this.env });
    return guest.run(cloudflareHost({ step, guest }), { ...payload, workflowId: instanceId });
  }
}

/** Answers `POST /ID/start`, `POST /ID/send` with a command, `POST /ID/event` with any payload, and `GET /ID`. */
const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, id = "", verb] = new URL(request.url).pathname.split("/");
    if (verb === "start") await env.STEPFOLD.create({ id, params: (await request.json()) as Start });
    else if (verb === "send") await cloudflareMailbox(await env.STEPFOLD.get(id)).send((await request.json()) as Command);
    else if (verb === "event") await (await env.STEPFOLD.get(id)).sendEvent({ type: "stepfold", payload: await request.json() });
    return Response.json(await (await env.STEPFOLD.get(id)).status());
  },
};

export { worker as default };
