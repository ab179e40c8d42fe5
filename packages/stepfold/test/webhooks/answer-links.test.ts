import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { defineNode } from "../../src/engine/node/define-node.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { answerLinks } from "../../src/webhooks/index.ts";
import { closeAll, hour, second, setUp } from "../runtime/runtime.fixture.ts";

afterEach(closeAll);

const secretOf = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const keys = [{ id: "2026-11", secret: secretOf(1) }];
const workflows = [
  {
    id: "review",
    nodes: [{ id: "approve", type: "approval", data: { title: "Ship it?", responders: ["ada", "bob"], timeout: "2d" } }],
    edges: [],
  },
  { id: "both", nodes: [{ id: "approve", type: "approval", data: { responders: ["ada", "bob"], quorum: 2 } }], edges: [] },
  { id: "pay", nodes: [{ id: "paid", type: "signal", data: { name: "paid" } }], edges: [] },
];

async function linked(workflow = "review", more: object = {}) {
  const { runtime, environment, store } = setUp({ workflows, nodeDefinitions: builtinNodes });
  const links = answerLinks(runtime, { keys, now: () => environment.now(), ...more });
  const run = await runtime.start(workflow, { workflowId: "r" });
  await environment.advance(second);
  const [wait] = await run.waits();
  const link = (options: object = {}): Promise<string> => links.create({ workflowId: "r", waitId: wait!.id, by: "ada", ...options });
  return { runtime, environment, store, links, run, link };
}

const yes = { approved: true };

describe("a link that answers a wait", () => {
  it("says what is asked, answers once, and is of no use then", async () => {
    const { links, link, run, environment } = await linked();
    const [token, other] = [await link(), await link({ by: "bob" })];
    expect(await links.read(token)).toMatchObject({
      workflowId: "r",
      by: "ada",
      wait: { address: "approve", payload: { title: "Ship it?" } },
    });
    const answers = await Promise.all([links.answer(token, yes), links.answer(token, yes)]);
    expect(answers.filter(({ applied }) => applied)).toHaveLength(1);
    await environment.advance(second);
    expect(await run.result()).toEqual({ approved: true, by: "ada" });
    // a second click on the same button changes nothing, and is no error
    expect(await links.answer(token, yes)).toEqual({ applied: false });
    for (const late of [() => links.answer(token, { approved: false }), () => links.answer(other, yes), () => links.read(token)])
      await expect(late()).rejects.toMatchObject({ code: "LINK_INVALID", status: 404 });
  });

  it("answers as the one it was made for, whatever the payload says, and with its own payload only if it has one", async () => {
    const { links, link, run, environment } = await linked("both");
    const no = await link({ payload: { approved: false } });
    expect((await links.read(no)).payload).toEqual({ approved: false });
    await expect(links.answer(no, yes)).rejects.toMatchObject({ code: "OPTION_INVALID" });
    expect(await links.answer(await link({ by: "bob" }), { approved: true, by: "ada" })).toEqual({ applied: true });
    expect(await links.answer(no)).toEqual({ applied: true });
    await environment.advance(second);
    const { answers } = (await run.result()) as { answers: { by: string; payload: { approved: boolean } }[] };
    expect(answers.map(({ by, payload }) => [by, payload.approved])).toEqual([
      ["bob", true],
      ["ada", false],
    ]);
  });

  it("can be used again after a payload that does not fit", async () => {
    const { links, link } = await linked();
    const token = await link();
    await expect(links.answer(token, { approved: "yes" })).rejects.toMatchObject({ code: "RESUME_INVALID" });
    await expect(links.answer(await link({ by: "eve" }), yes)).rejects.toMatchObject({ code: "RESPONDER_DENIED" });
    expect(await links.answer(token, yes)).toEqual({ applied: true });
  });

  it("can be used again after a payload that only the code refused, once for each answer that counts", async () => {
    const even = z.object({ amount: z.int().refine((amount) => amount % 2 === 0, "must be even") });
    const pay = defineNode({
      resume: even,
      executor: (_data, step) => (step.resumed ? { data: step.externalPayload } : step.suspend({ please: "pay" })),
    });
    const till = { id: "till", nodes: [{ id: "pay", type: "pay" }], edges: [] };
    const { environment, store } = setUp({ workflows: [till], nodeDefinitions: { pay } });
    // the process of the links has no code
    const { runtime: hands } = setUp({ store, nodeDefinitions: undefined, workflows: [till], drive: false } as never, environment);
    const links = answerLinks(hands, { keys, now: () => environment.now() });
    const run = await hands.start("till", { workflowId: "r" });
    await environment.advance(2 * second);
    const [wait] = await run.waits();
    const create = (more: object = {}) => links.create({ workflowId: "r", waitId: wait!.id, by: "ada", ...more });
    const [token, other] = [await create(), await create({ payload: { amount: 7 } })];
    for (const amount of [3, 5]) {
      expect(await links.answer(token, { amount })).toEqual({ applied: true });
      await environment.advance(2 * second);
      expect((await links.read(token)).wait).toMatchObject({ firstId: wait!.id, refused: { who: "ada" } });
    }
    // a button whose own answer is refused can be pressed again too
    for (let times = 0; times < 2; times++) {
      expect(await links.answer(other)).toEqual({ applied: true });
      await environment.advance(2 * second);
    }
    expect(await links.answer(token, { amount: 4 })).toEqual({ applied: true });
    await environment.advance(2 * second);
    expect(await run.result()).toEqual({ amount: 4 });
    expect(await links.answer(token, { amount: 4 })).toEqual({ applied: false });
    for (const late of [() => links.answer(token, { amount: 6 }), () => links.answer(other), () => links.read(token)])
      await expect(late()).rejects.toMatchObject({ code: "LINK_INVALID" });
  });

  it("is refused when it has expired, is forged, cut or changed, or of another execution of that id", async () => {
    const { links, link, run, environment, runtime, store } = await linked();
    const token = await link();
    const [version, key, body = "", mac = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString()) as object;
    const forged = Buffer.from(JSON.stringify({ ...claims, by: "bob" })).toString("base64url");
    const foreign = await answerLinks(runtime, { keys: [{ id: "2026-11", secret: secretOf(9) }] }).create({
      ...{ workflowId: "r", waitId: (await run.waits())[0]!.id },
    });
    const wrong = [
      ...["", "x", token.slice(0, -2), `${token}.x`, foreign, 7 as never],
      ...[
        [version, key, forged, mac],
        [version, "other", body, mac],
        ["v2", key, body, mac],
        [version, key, body, ""],
      ].map((parts) => parts.join(".")),
    ];
    for (const one of wrong) {
      await expect(links.read(one), one).rejects.toMatchObject({ code: "LINK_INVALID" });
      await expect(links.answer(one, yes), one).rejects.toMatchObject({ code: "LINK_INVALID" });
    }
    const short = await link({ expiresAt: environment.now() + hour });
    await environment.advance(hour);
    await expect(links.answer(short, yes)).rejects.toMatchObject({ code: "LINK_INVALID" });
    expect(await links.read(token)).toMatchObject({ expiresAt: (await run.waits())[0]!.timeoutAt });
    await run.cancel();
    await store.prune({ before: environment.now() + hour });
    await expect(links.answer(token, yes)).rejects.toMatchObject({ code: "LINK_INVALID" });
  });

  it("is signed by the first key, and good while one of the keys has signed it", async () => {
    const { link, links, runtime, environment } = await linked();
    const token = await link();
    const next = [{ id: "2026-12", secret: secretOf(2) }];
    const rotated = answerLinks(runtime, { keys: [...next, ...keys], now: () => environment.now() });
    expect(await rotated.read(token)).toMatchObject({ by: "ada" });
    await expect(answerLinks(runtime, { keys: next, now: () => environment.now() }).read(token)).rejects.toMatchObject({
      code: "LINK_INVALID",
    });
    const [wait] = await (await runtime.get("r")).waits();
    await expect(links.read(await rotated.create({ workflowId: "r", waitId: wait!.id }))).rejects.toMatchObject({ code: "LINK_INVALID" });
  });

  it("is only made for an open wait that takes an answer, and leaves no secret in the execution", async () => {
    const { links, link, store, run } = await linked();
    await expect(links.create({ workflowId: "r", waitId: "0@9" })).rejects.toMatchObject({ code: "WAIT_GONE" });
    await expect(links.create({ workflowId: "none", waitId: "0@9" })).rejects.toMatchObject({ code: "WORKFLOW_NOT_FOUND" });
    await expect(link({ expiresAt: Number.NaN })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    for (const by of ["", 7]) await expect(link({ by })).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "by" } });
    await expect(link({ payload: "x".repeat(20_000) })).rejects.toMatchObject({ code: "OPTION_INVALID", details: { option: "payload" } });
    expect((await links.read(await link({ payload: "x".repeat(10_000) }))).payload).toHaveLength(10_000);
    await expect(link({ until: 7 })).rejects.toMatchObject({ code: "OPTION_UNKNOWN" });
    const signals = await linked("pay");
    await expect(signals.link()).rejects.toMatchObject({ code: "WAIT_GONE" });
    const token = await link();
    await links.answer(token, yes);
    const stored = JSON.stringify([await run.snapshot(), await store.events("r", -1, 100)]);
    expect(stored).not.toContain(token.split(".").at(-1));
    expect(stored).not.toContain(token.split(".")[2]);
  });

  it.each([
    [{}],
    [{ keys: [] }],
    [{ keys: [{ id: "a b", secret: secretOf(1) }] }],
    [{ keys: [...keys, ...keys] }],
    [{ keys: [{ id: "a", secret: new Uint8Array(8) }] }],
    [{ keys: [{ id: "a", secret: "text" }] }],
    [{ keys: [null] }],
    [{ keys: [{ id: "a", secret: secretOf(1), expiresAt: 7 }] }],
  ])("is not made with %j", (options) => {
    const code = expect.stringMatching(/^OPTION_(UNKNOWN|INVALID)$/);
    expect(() => answerLinks({} as never, options as never)).toThrow(expect.objectContaining({ code }));
  });
});

describe("the web handler of links", () => {
  it("tells without answering, answers, and says the same of whatever cannot be used", async () => {
    const { links, link, run, environment } = await linked();
    const token = await link();
    const ask = async (path: string, init: RequestInit = {}) => {
      const response = await links.fetch(new Request(`https://example.test/answers/${path}`, init));
      return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
    };
    const post = (payload: unknown): RequestInit => ({ method: "POST", body: JSON.stringify(payload) });
    const told = await ask(token);
    expect(told).toMatchObject({ status: 200, body: { by: "ada", wait: { address: "approve", schema: { required: ["approved"] } } } });
    expect([told.headers.get("cache-control"), told.headers.get("referrer-policy")]).toEqual(["no-store", "no-referrer"]);
    expect(await run.snapshot()).toMatchObject({ status: "paused" });
    expect(await ask(token, post({ approved: 1 }))).toMatchObject({
      body: { error: "RESUME_INVALID", issues: [{ pointer: "/approved" }] },
    });
    const notUtf8 = Buffer.concat([Buffer.from('{"approved":true,"note":"'), Buffer.of(0xff), Buffer.from('"}')]);
    for (const body of ["{", notUtf8])
      expect(await ask(token, { method: "POST", body })).toMatchObject({ status: 400, body: { error: "VALUE_NOT_JSON" } });
    expect(await ask(token, { method: "PUT" })).toMatchObject({ status: 405 });
    expect(await ask(token, post(yes))).toMatchObject({ status: 200, body: { applied: true } });
    await environment.advance(second);
    expect(await run.result()).toMatchObject({ approved: true });
    for (const path of [token, "x", ""]) expect(await ask(path)).toMatchObject({ status: 404, body: { error: "LINK_INVALID" } });
    expect(await ask("x".repeat(20_000), post(yes))).toMatchObject({ status: 404 });
  });
});
