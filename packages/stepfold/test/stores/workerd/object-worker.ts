// A worker with an object in which the tests run executions and read the store and the alarm. HANGS: steps of type `slow` do not end.

import { defineNode, StepfoldError } from "../../../src/index.ts";
import { builtinNodes } from "../../../src/nodes/index.ts";
import { createRuntime, type Runtime } from "../../../src/runtime/index.ts";
import { type DurableObjectStore, durableObjectStore, type ObjectStorage } from "../../../src/stores/databases/durable-object/index.ts";

interface Objects {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
}

interface Env {
  readonly HANGS: boolean;
  readonly OBJECTS: Objects;
}

interface State {
  readonly storage: ObjectStorage & { getAlarm(): Promise<number | null> };
}

/** The body of a request to the object, `POST /OBJECT/VERB`. */
export interface Asked {
  readonly workflow?: "wait" | "slow" | "turn";
  readonly workflowId?: string;
  readonly input?: unknown;
  /** The statement that the verb `sql` runs. */
  readonly sql?: string;
}

const workflows = [
  { id: "wait", nodes: [{ id: "wait", type: "wait", data: { for: "{{ input }}" } }], edges: [] },
  { id: "slow", nodes: [{ id: "slow", type: "slow" }], edges: [] },
  {
    id: "turn",
    concurrency: { key: "{{ input }}", limit: 1 },
    nodes: [{ id: "slow", type: "slow" }],
    edges: [],
  },
];

/** Opens the store and the runtime of an object. */
function openIn(storage: ObjectStorage, hangs: boolean): { readonly store: DurableObjectStore; readonly runtime: Runtime } {
  const slow = defineNode({
    executor: async (_, step) => {
      await new Promise((resolve) => setTimeout(resolve, hangs ? 600_000 : 100));
      return { data: step.attempt };
    },
  });
  const store = durableObjectStore(storage);
  return { store, runtime: createRuntime({ store, workflows, nodeDefinitions: { ...builtinNodes, slow }, drive: false, leaseMs: 1_000 }) };
}

export class OneObject {
  readonly #storage: State["storage"];
  readonly #hangs: boolean;
  #opened: ReturnType<typeof openIn> | null = null;
  #rings = 0;

  constructor({ storage }: State, { HANGS }: Env) {
    this.#storage = storage;
    this.#hangs = HANGS;
  }

  open(): ReturnType<typeof openIn> {
    this.#opened ??= openIn(this.#storage, this.#hangs);
    return this.#opened;
  }

  async alarm(): Promise<void> {
    this.#rings++;
    await this.open().store.alarm(this.open().runtime);
  }

  async fetch(request: Request): Promise<Response> {
    try {
      const verb = new URL(request.url).pathname.split("/")[2]!;
      return Response.json(await this.#answer(verb, (await request.json()) as Asked));
    } catch (error) {
      return Response.json(StepfoldError.is(error) ? { code: error.code, message: error.message } : { message: String(error) });
    }
  }

  async #answer(verb: string, { workflow = "wait", workflowId = "one", input = null, sql = "" }: Asked): Promise<unknown> {
    if (verb === "sql") return this.#storage.sql.exec(sql).toArray();
    const { store, runtime } = this.open();
    if (verb === "start") await runtime.start(workflow, { workflowId, input });
    if (verb === "cancel") await (await runtime.get(workflowId)).cancel();
    if (verb === "summaries") return (await store.summaries!(input as string[])).length;
    if (verb === "count") return store.count!(input as object);
    return { status: (await store.load(workflowId))?.status, rings: this.#rings, alarm: await this.#storage.getAlarm(), now: Date.now() };
  }
}

const worker = {
  async fetch(request: Request, { OBJECTS }: Env): Promise<Response> {
    return OBJECTS.get(OBJECTS.idFromName(new URL(request.url).pathname.split("/")[1]!)).fetch(request);
  },
};

export { worker as default };
