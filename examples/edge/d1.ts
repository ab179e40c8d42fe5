// A worker whose executions live in D1. A cron trigger runs what is due; a request that starts or answers an execution runs it at once.
// POST /ID starts an order, POST /ID/approve answers, GET /ID shows it.
import { waits } from "stepfold";
import { createRuntime, type Runtime } from "stepfold/runtime";
import { type D1Client, d1Store } from "stepfold/stores/d1";
import { nodeDefinitions, order } from "./order.ts";

interface Env {
  readonly DB: D1Client;
}

interface Context {
  waitUntil(work: Promise<unknown>): void;
}

/** Opens a runtime for each request, because in a Worker one request must not wait for the I/O of another. */
function open(env: Env): Runtime {
  return createRuntime({ store: d1Store(env.DB), workflows: [order], nodeDefinitions, drive: false });
}

const worker = {
  async fetch(request: Request, env: Env, context: Context): Promise<Response> {
    const [, id = "", verb] = new URL(request.url).pathname.split("/");
    const runtime = open(env);
    if (request.method === "POST") {
      const body: unknown = await request.json();
      if (verb === "approve") await (await runtime.get(id)).resume({ step: "approve", payload: body });
      else await runtime.start("order", { workflowId: id, input: body });
      // runs after the response; the cron trigger runs what is left
      context.waitUntil(runtime.sweep({ wakeUps: [{ workflowId: id }] }));
    }
    const snapshot = await (await runtime.get(id)).snapshot();
    const waitsAt = waits(snapshot).map(({ address }) => address);
    return Response.json({ status: snapshot.status, output: snapshot.output ?? null, waitsAt });
  },

  /** Called by the cron trigger once a minute. */
  async scheduled(_: unknown, env: Env): Promise<void> {
    await open(env).sweep({ timeoutMs: 25_000 });
  },
};

export { worker as default };
