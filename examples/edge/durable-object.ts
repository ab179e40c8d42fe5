// A worker whose executions live in a Durable Object. Its alarm wakes the object when an execution is due; in between nothing runs.
// POST /ID starts an order, POST /ID/approve answers, GET /ID shows it.
import { DurableObject } from "cloudflare:workers";
import { waits } from "stepfold";
import { createRuntime } from "stepfold/runtime";
import { durableObjectStore } from "stepfold/stores/durable-object";
import { nodeDefinitions, order } from "./order.ts";

interface Env {
  readonly ORDERS: { getByName(name: string): Orders };
}

/** An object with any number of executions. Several objects with a share of the executions each can do more work at the same time. */
export class Orders extends DurableObject<Env> {
  readonly #store = durableObjectStore(this.ctx.storage);
  readonly #runtime = createRuntime({ store: this.#store, workflows: [order], nodeDefinitions, drive: false });

  /** Cloudflare calls this method when the first execution is due. */
  override alarm(): Promise<void> {
    return this.#store.alarm(this.#runtime);
  }

  /** Starts an order. When the promise resolves, the execution is stored and the alarm is set. */
  async start(workflowId: string, input: unknown): Promise<void> {
    await this.#runtime.start("order", { workflowId, input });
  }

  async approve(workflowId: string, payload: unknown): Promise<void> {
    const run = await this.#runtime.get(workflowId);
    await run.resume({ step: "approve", payload });
  }

  async show(workflowId: string): Promise<{ readonly status: string; readonly output: unknown; readonly waitsAt: readonly string[] }> {
    const snapshot = await (await this.#runtime.get(workflowId)).snapshot();
    return { status: snapshot.status, output: snapshot.output ?? null, waitsAt: waits(snapshot).map(({ address }) => address) };
  }
}

const worker = {
  async fetch(request: Request, env: Env): Promise<Response> {
    const [, id = "", verb] = new URL(request.url).pathname.split("/");
    const orders = env.ORDERS.getByName("all");
    try {
      if (request.method === "POST") await orders[verb === "approve" ? "approve" : "start"](id, await request.json());
      return Response.json(await orders.show(id));
    } catch (error) {
      // an error that the object throws arrives here as a plain `Error`
      return new Response(String(error), { status: 400 });
    }
  },
};

export { worker as default };
