import { describe, expect, it } from "vitest";
import { viaJson } from "../../test/engine/engine.fixture.ts";
import type { Snapshot } from "../core/snapshot/snapshot.ts";
import type { Json } from "../core/values/json.ts";
import { WorkflowEngine } from "../engine/workflow-engine.ts";
import { systemEnvironment } from "../environment/system-environment.ts";
import { builtinNodes } from "./index.ts";

let now = 1_000;

function engineOf(data?: Json): WorkflowEngine<typeof builtinNodes> {
  const ends = ["approved", "rejected", "timeout"];
  const workflow = {
    id: "w",
    nodes: [
      { id: "ask", type: "approval", ...(data === undefined ? {} : { data }) },
      ...ends.map((id) => ({ id, type: "end", data: { output: id } })),
    ],
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
        properties: { approved: { type: "boolean" }, comment: { type: "string" } },
      },
    });
    expect(wait).not.toHaveProperty("timeoutAt");
  });

  it.each([
    [true, "approved"],
    [false, "rejected"],
  ])("leaves with approved: %s by %s, and keeps the answer", async (approved, way) => {
    const engine = engineOf();
    const answer = { approved, comment: "as agreed", ticket: 4 };
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
    [{ approved: true, comment: 7 }],
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

describe("approval by certain people", () => {
  const answering = (snapshot: Snapshot, by: string | undefined, approved: boolean, engine = engineOf()): Promise<Snapshot> =>
    engine.send(viaJson(snapshot), { type: "resume", payload: { approved }, by });
  /** Sends the answers of these people in turn; a `-` before a name means that the person rejects. */
  const all = async (data: Json, people: readonly string[]): Promise<Snapshot> => {
    const engine = engineOf(data);
    let snapshot = await engine.execute({});
    for (const who of people) snapshot = await answering(snapshot, who.replace("-", ""), !who.startsWith("-"), engine);
    return snapshot.status === "paused" ? snapshot : engine.execute({ snapshot });
  };

  it("shows who may answer as approvers, or whom it is told to show", async () => {
    const waitOf = async (data: Json): Promise<unknown> => (await engineOf(data).execute({})).activePaths[0]?.waits?.[0];
    expect(await waitOf({ responders: ["ada", "bob", "ada"] })).toMatchObject({
      responders: ["ada", "bob"],
      payload: { approvers: ["ada", "bob", "ada"] },
    });
    expect(await waitOf({ responders: ["ada"], approvers: ["finance"] })).toMatchObject({
      responders: ["ada"],
      payload: { approvers: ["finance"] },
    });
    expect(await waitOf({ approvers: ["finance"] })).not.toHaveProperty("responders");
  });

  it.each([["eve"], ["Ada"], ["__proto__"], [undefined]])("does not let %j answer", async (by) => {
    const engine = engineOf({ responders: ["ada"] });
    const paused = await engine.execute({});
    await expect(answering(paused, by, true, engine)).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
    const claimed = { approved: true, by: "ada" };
    await expect(engine.execute({ snapshot: paused, externalPayload: claimed })).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
  });

  it("gives the one answer, with the name of who gave it, without a quorum", async () => {
    const snapshot = await all({ responders: ["ada", "bob"] }, ["bob"]);
    expect(snapshot).toMatchObject({ status: "completed", output: "approved" });
    expect(snapshot.context.ask?.[0]?.output).toEqual({ approved: true, by: "bob" });
  });

  it("is approved by a quorum, and gives every answer", async () => {
    now = 5_000;
    const snapshot = await all({ responders: ["ada", "bob", "cy"], quorum: 2 }, ["bob", "-ada", "cy"]);
    expect(snapshot).toMatchObject({ status: "completed", output: "approved" });
    expect(snapshot.context.ask?.[0]?.output).toEqual({
      approved: true,
      answers: [
        { by: "bob", at: 5_000, payload: { approved: true } },
        { by: "ada", at: 5_000, payload: { approved: false } },
        { by: "cy", at: 5_000, payload: { approved: true } },
      ],
    });
  });

  it.each<[string, Json, readonly string[], string]>([
    ["two of three", { responders: ["ada", "bob", "cy"], quorum: 2 }, ["ada", "bob"], "approved"],
    ["all of three", { responders: ["ada", "bob", "cy"], quorum: 3 }, ["ada", "bob", "cy"], "approved"],
    ["one of three", { responders: ["ada", "bob", "cy"], quorum: 1 }, ["-ada", "-bob", "cy"], "approved"],
    ["too few left", { responders: ["ada", "bob", "cy"], quorum: 2 }, ["-ada", "-bob"], "rejected"],
    ["too few left after an approval", { responders: ["ada", "bob", "cy"], quorum: 2 }, ["-ada", "cy", "-bob"], "rejected"],
    ["one rejection where all are needed", { responders: ["ada", "bob", "cy"], quorum: 3 }, ["ada", "-bob"], "rejected"],
    ["all rejections where one is enough", { responders: ["ada", "bob"], quorum: 1 }, ["-ada", "-bob"], "rejected"],
    ["anybody, approved", { quorum: 2 }, ["ada", "-eve", "bob"], "approved"],
    ["anybody, as many rejections", { quorum: 2 }, ["-ada", "eve", "-bob"], "rejected"],
  ])("is certain with %s", async (_, data, people, way) => {
    const before = await all(data, people.slice(0, -1));
    expect([before.status, before.activePaths[0]?.waits?.[0]?.answers?.length]).toEqual(["paused", people.length - 1]);
    const snapshot = await all(data, people);
    expect(snapshot).toMatchObject({ status: "completed", output: way });
    expect(snapshot.context.ask?.[0]?.output).toMatchObject({
      approved: way === "approved",
      answers: people.map((who) => ({ by: who.replace("-", "") })),
    });
  });

  it("counts nobody twice, and nobody without a name", async () => {
    const engine = engineOf({ quorum: 2 });
    const once = await answering(await engine.execute({}), "ada", true, engine);
    for (const by of ["ada", undefined])
      await expect(answering(once, by, false, engine)).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
    await expect(engine.execute({ snapshot: once, externalPayload: { approved: true } })).rejects.toMatchObject({
      code: "RESPONDER_DENIED",
    });
  });

  it.each<[Json]>([[{ responders: ["ada"] }], [{ quorum: 2 }]])("is not answered by going on without an answer, with %j", async (data) => {
    const engine = engineOf(data);
    const paused = await engine.execute({});
    expect(await engine.execute({ snapshot: paused })).toBe(paused);
  });

  it("counts no answer that does not fit", async () => {
    const engine = engineOf({ responders: ["ada", "bob"], quorum: 2, schema: { required: ["why"] } });
    const paused = await engine.execute({});
    for (const payload of [{ approved: "true", why: 1 }, { approved: true }, undefined])
      await expect(engine.send(paused, { type: "resume", payload, by: "ada" })).rejects.toMatchObject({ code: "RESUME_INVALID" });
  });

  it("leaves by timeout when the quorum does not come in time", async () => {
    now = 1_000;
    const engine = engineOf({ quorum: 2, timeout: "1h" });
    const once = await answering(await engine.execute({}), "ada", true, engine);
    now += 3_600_000;
    await expect(answering(once, "bob", true, engine)).rejects.toMatchObject({ code: "WAIT_EXPIRED" });
    expect(await engine.execute({ snapshot: once })).toMatchObject({ status: "completed", output: "timeout" });
  });

  it.each<[Json, string]>([
    [{ responders: ["ada"], quorum: 2 }, "OPTION_INVALID"],
    [{ responders: ["ada", "ada"], quorum: 2 }, "OPTION_INVALID"],
    [{ responders: "{{ input }}" }, "DATA_INVALID"],
    [{ quorum: "{{ 0 }}" }, "DATA_INVALID"],
    [{ quorum: "{{ 1.5 }}" }, "DATA_INVALID"],
  ])("fails with %j by %s, never retried", async (data, code) => {
    const snapshot = await engineOf(data).execute({ input: { 0: "ada", length: 1 } });
    expect(snapshot).toMatchObject({ status: "failed", error: { code } });
    expect(snapshot.context.ask).toHaveLength(1);
  });
});
