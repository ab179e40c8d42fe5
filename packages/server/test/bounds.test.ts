import { defineNode, type WorkflowDefinition } from "stepfold";
import { createClient } from "stepfold/client";
import { describe, expect, it } from "vitest";
import { served, tokenOf } from "./served.fixture.ts";

/** Makes texts of a size, asks with one of them, and ends with one. */
const large = {
  id: "large",
  nodes: [
    { id: "make", type: "make", data: { bytes: "{{ input.bytes }}", n: "{{ (nodes.make.last?.data.n ?? 0) + 1 }}" } },
    { id: "more", type: "if", data: { condition: "{{ nodes.make.last.data.n < input.times }}" } },
    { id: "ask", type: "asking", data: { bytes: "{{ input.bytes }}" } },
    { id: "end", type: "end", data: { output: "{{ nodes.make.last.data }}" } },
  ],
  edges: [
    { source: "make", target: "more" },
    { source: "more", target: "make", sourceHandle: "true" },
    { source: "more", target: "ask", sourceHandle: "false" },
    { source: "ask", target: "end" },
  ],
  start: "make",
} as unknown as WorkflowDefinition;

const nodeDefinitions = {
  make: defineNode({
    executor(data) {
      const { bytes, n } = data as { bytes: number; n: number };
      return { data: { n, text: "x".repeat(bytes) } };
    },
  }),
  asking: defineNode({
    executor(data, step) {
      if (step.resumed) return { data: null };
      return step.suspend({ text: "y".repeat((data as { bytes: number }).bytes) });
    },
  }),
};

describe("what is sent is bounded", () => {
  it("a large payload and output are told by their size in views, and can be read by themselves", async () => {
    const { ask, runtime } = await served({ workflows: [large], nodeDefinitions });
    const run = await runtime.start("large", { workflowId: "a", input: { bytes: 200_000, times: 1 } });
    await run.waitFor("paused");
    const view = await ask("/v1/executions/a");
    expect(view.text.length).toBeLessThan(10_000);
    expect(view.body.waits[0].payload["~cut"]).toBeGreaterThan(200_000);
    expect((await ask("/v1/executions/a/waits")).body.items[0].payload.text.length).toBe(200_000);
    await run.resume({ payload: true });
    await run.result();
    expect((await ask("/v1/executions/a")).body.output["~cut"]).toBeGreaterThan(200_000);
    expect((await ask("/v1/executions/a/snapshot")).body.output.text.length).toBe(200_000);
  });

  it("pages of large events end early, in both directions, and none is missing", async () => {
    const { ask, runtime } = await served({
      workflows: [large],
      nodeDefinitions,
      runtimeOptions: { limits: { executionBytes: 64 * 2 ** 20 } },
    });
    const run = await runtime.start("large", { workflowId: "a", input: { bytes: 900_000, times: 20 } });
    await run.waitFor("paused");
    const last = (await run.snapshot()).version;
    const read = async (query: (at: number) => string, begin: number): Promise<number[]> => {
      const versions: number[] = [];
      for (let at: number | null = begin; at !== null; ) {
        const { text, body } = await ask(`/v1/executions/a/events?limit=1000&${query(at)}`);
        expect(text.length).toBeLessThan(9 * 2 ** 20);
        versions.push(...body.items.map(({ version }: { version: number }) => version));
        at = body.next;
      }
      return versions.sort((a, b) => a - b);
    };
    const all = Array.from({ length: last + 1 }, (_, version) => version);
    expect(await read((at) => `after=${at}`, -1)).toEqual(all);
    expect(await read((at) => `before=${at}`, last + 1)).toEqual(all);
    expect((await ask("/v1/executions/a/snapshot")).body.code).toBe("LIMIT_EXCEEDED");
  });

  it("a stream of an execution that holds very much has no values, and all its events", async () => {
    const all = await served({ workflows: [large], nodeDefinitions, runtimeOptions: { limits: { executionBytes: 64 * 2 ** 20 } } });
    const run = await all.runtime.start("large", { workflowId: "a", input: { bytes: 900_000, times: 20 } });
    await run.waitFor("paused");
    const { version } = await run.snapshot();
    const client = createClient({
      url: "http://localhost",
      token: tokenOf("ada"),
      fetch(url, init) {
        const request = new Request(url, init);
        request.headers.set("host", "localhost");
        return all.server.fetch(request);
      },
    });
    let bytes = 0;
    const versions: number[] = [];
    for await (const frame of client.executions.watch("a")) {
      bytes += JSON.stringify(frame).length;
      if (frame.type === "event") versions.push(frame.event.version);
      if (frame.type === "head") break;
    }
    expect(versions).toEqual(Array.from({ length: version + 1 }, (_, index) => index));
    expect(bytes).toBeLessThan(200_000);
  });
});
