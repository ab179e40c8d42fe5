import { afterEach, describe, expect, it } from "vitest";
import { closeAll, nodeDefinitions, setUp } from "../../../test/runtime/runtime.fixture.ts";
import type { Json } from "../../core/values/json.ts";
import { builtinNodes } from "../../nodes/index.ts";
import type { Run } from "./run.ts";
import type { Watched } from "./watch.ts";

afterEach(closeAll);

const review = {
  id: "review",
  nodes: [
    { id: "classify", type: "set", data: "{{ input }}" },
    { id: "approve", type: "ask", data: { urgency: "{{ input.urgency }}" } },
  ],
  edges: [{ source: "classify", target: "approve" }],
};
const each = (map: object = {}): object => ({
  id: "each",
  nodes: [{ id: "map", type: "map", data: { workflow: "review", items: "{{ input }}", ...map } }],
  edges: [],
});
const urgent = {
  id: "urgent",
  nodes: [
    { id: "triage", type: "say", data: {} },
    { id: "approve", type: "open", data: { urgency: "{{ input.urgency }}" } },
  ],
  edges: [{ source: "triage", target: "approve" }],
};
const definitions = {
  ...builtinNodes,
  ...nodeDefinitions,
  open: {
    executor: (data: Json, step: { externalPayload?: unknown; suspend: (payload: Json) => never }) =>
      step.externalPayload === undefined ? step.suspend(data) : { data: step.externalPayload as Json },
  },
};

async function begin(workflow: string, input: Json, more: object = {}): Promise<{ run: Run; settle: () => Promise<void> }> {
  const sub = { id: "around", nodes: [{ id: "sub", type: "workflow", data: { workflow: "each", input: "{{ input }}" } }], edges: [] };
  const workflows = [review, each(more), urgent, sub];
  const { runtime, environment } = setUp({ workflows, nodeDefinitions: definitions as never });
  const run = await runtime.start(workflow, { input });
  await environment.settle();
  return { run, settle: () => environment.settle() };
}

/** The latest item. */
async function latest(run: Run): Promise<Watched> {
  const { version } = await run.snapshot();
  for await (const watched of run.watch({ after: version - 1 })) return watched;
  throw new RangeError("nothing to watch");
}

describe("watch", () => {
  it("lets a program answer by what it reads: urgency is high, and the role is manager", async () => {
    for (const [urgency, role, answered] of [
      ["high", "manager", true],
      ["high", "clerk", false],
      ["low", "manager", false],
    ] as const) {
      const { run, settle } = await begin("urgent", { urgency });
      let resumed = false;
      for await (const { activePaths } of run.watch()) {
        const approval = activePaths.get("approve");
        if (approval?.status !== "suspended") continue;
        const { urgency: asked } = approval.suspendPayload as { urgency: string };
        if (asked === "high" && role === "manager")
          resumed = (await run.resume({ waitId: approval.waits[0]!.id, payload: { role } })).applied;
        break;
      }
      await settle();
      expect(resumed).toBe(answered);
      expect(await run.snapshot()).toMatchObject(answered ? { status: "completed", output: { role } } : { status: "paused" });
    }
  });

  it("shows open nodes of children by their address, with all that is needed to answer them", async () => {
    const { run, settle } = await begin("each", [{ urgency: "low" }, { urgency: "high" }]);
    const { activePaths } = await latest(run);
    expect(activePaths.get("map")).toEqual({ status: "suspended", suspendPayload: undefined, waits: [], stepPath: [] });
    const place = activePaths.get("map[1]/approve")!;
    expect(place).toMatchObject({
      status: "suspended",
      suspendPayload: { urgency: "high" },
      stepPath: ["classify"],
      waits: [{ address: "map[1]/approve", kind: "external" }],
    });
    await run.resume({ waitId: place.waits[0]!.id, payload: { approved: true } });
    await settle();
    const after = (await latest(run)).activePaths;
    expect([after.has("map[0]/approve"), after.has("map[1]/approve")]).toEqual([true, false]);
  });

  it("has every open node, of sub-workflows too, and nothing else", async () => {
    const { run } = await begin("around", [{}, {}]);
    const { activePaths } = await latest(run);
    const addresses = ["sub", "sub/map", "sub/map[0]/approve", "sub/map[1]/approve"];
    expect([...activePaths.keys()]).toEqual(addresses);
    expect([...activePaths].map(([address]) => address)).toEqual(addresses);
    expect([...activePaths.values()].map(({ status }) => status)).toEqual(Array(4).fill("suspended"));
    expect(activePaths.size).toBe(4);
    const seen: string[] = [];
    activePaths.forEach((_node, address) => {
      seen.push(address);
    });
    expect(seen).toEqual(addresses);
    const { activePaths: fresh } = await latest(run);
    for (const wrong of [
      "",
      "/",
      "approve",
      "sub/map[2]/approve",
      "sub/map/approve",
      "sub[0]/map",
      "sub/approve",
      "map[0]/approve",
      "sub/m[ap/x",
    ])
      expect([wrong, fresh.has(wrong), fresh.get(wrong)]).toEqual([wrong, false, undefined]);
    for (const address of addresses) expect(fresh.get(address)).toEqual(activePaths.get(address));
  });

  it("keeps up with a map of 1,000 items", async () => {
    const { run } = await begin(
      "each",
      Array.from({ length: 1_000 }, () => ({})),
    );
    let events = 0;
    let waiting = 0;
    const { version } = await run.snapshot();
    for await (const { event, activePaths } of run.watch()) {
      events++;
      if (activePaths.get("map[999]/approve")?.status === "suspended") waiting++;
      if (event.version === version) break;
    }
    expect([events, waiting]).toEqual([version + 1, 1]);
  });
});
