import { describe, expect, it } from "vitest";
import type { Json } from "../core/json.ts";
import { systemEnvironment } from "../engine/system-environment.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { builtinNodes } from "./index.ts";

let now = 1_000;

function engineOf(data?: Json): WorkflowEngine<typeof builtinNodes> {
  const ends = ["approved", "rejected", "timeout"];
  const workflow = {
    id: "w",
    nodes: [{ id: "ask", type: "approval", ...(data === undefined ? {} : { data }) }, ...ends.map((id) => ({ id, type: "end", data: id }))],
    edges: ends.map((id) => ({ source: "ask", target: id, sourceHandle: id })),
  };
  return new WorkflowEngine({ workflow, nodeDefinitions: builtinNodes, environment: { ...systemEnvironment, now: () => now } });
}

describe("approval", () => {
  const amount = { properties: { amount: { type: "number", maximum: 500 } }, required: ["amount"], additionalProperties: false };

  it("pauses, and tells a screen what to show and what to ask for", async () => {
    const data = {
      title: "Refund of {{ input.amount }}",
      message: "Please decide",
      approvers: ["finance"],
      details: { amount: "{{ input.amount }}" },
    };
    const { status, activePaths } = await engineOf(data).execute({ input: { amount: 7 } });
    expect(status).toBe("paused");
    const [wait] = activePaths[0]!.waits!;
    expect(wait).toMatchObject({
      kind: "external",
      payload: { type: "approval", title: "Refund of 7", message: "Please decide", approvers: ["finance"], details: { amount: 7 } },
      schema: {
        required: ["approved"],
        properties: { approved: { type: "boolean" }, comment: { type: "string" }, by: { type: "string" } },
      },
    });
    expect(wait).not.toHaveProperty("timeoutAt");
  });

  it.each([
    [true, "approved"],
    [false, "rejected"],
  ])("leaves with approved: %s by %s, and keeps the answer", async (approved, way) => {
    const engine = engineOf();
    const answer = { approved, by: "ada", comment: "as agreed", ticket: 4 };
    const snapshot = await engine.execute({ snapshot: await engine.execute({}), externalPayload: answer });
    expect(snapshot).toMatchObject({ status: "completed", output: way });
    expect(snapshot.context.ask?.[0]?.output).toEqual(answer);
  });

  it.each([
    [undefined],
    [null],
    [true],
    [{}],
    [{ approved: "true" }],
    [{ approved: 1 }],
    [{ approved: true, by: 7 }],
    [[{ approved: true }]],
  ])("refuses %j as an answer, and waits on", async (externalPayload) => {
    const engine = engineOf({});
    const paused = await engine.execute({});
    await expect(engine.execute({ snapshot: paused, externalPayload })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    expect((await engine.execute({ snapshot: paused, externalPayload: { approved: true } })).status).toBe("completed");
  });

  it("is not answered by going on without an answer", async () => {
    const engine = engineOf();
    expect((await engine.execute({ snapshot: await engine.execute({}) })).status).toBe("paused");
  });

  it("asks for fields of yours besides", async () => {
    const engine = engineOf({ schema: amount });
    const paused = await engine.execute({});
    for (const externalPayload of [{ approved: true }, { approved: true, amount: 501 }, { amount: 5 }, { approved: true, amount: 5, x: 1 }])
      await expect(engine.execute({ snapshot: paused, externalPayload })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    const answer = { approved: true, amount: 500, comment: "ok" };
    expect((await engine.execute({ snapshot: paused, externalPayload: answer })).context.ask?.[0]?.output).toEqual(answer);
  });

  it("does not let a schema of yours say what approved is", async () => {
    const engine = engineOf({ schema: { properties: { approved: { type: "string" } }, required: [] } });
    const paused = await engine.execute({});
    await expect(engine.execute({ snapshot: paused, externalPayload: { approved: "yes" } })).rejects.toMatchObject({
      code: "RESUME_INVALID",
    });
  });

  it("leaves by timeout when nobody decides in time", async () => {
    now = 1_000;
    const engine = engineOf({ timeout: "2 days" });
    const paused = await engine.execute({});
    expect(paused.activePaths[0]?.waits?.[0]?.timeoutAt).toBe(1_000 + 2 * 86_400_000);
    now += 2 * 86_400_000;
    expect(await engine.execute({ snapshot: paused })).toMatchObject({ status: "completed", output: "timeout" });
  });

  it("fails with a timeout that is none", async () => {
    expect(await engineOf({ timeout: "soon" }).execute({})).toMatchObject({ status: "failed", error: { code: "DURATION_INVALID" } });
  });
});
