import { afterEach, describe, expect, it } from "vitest";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { builtinNodes } from "../../src/nodes/index.ts";
import { type WebhookOptions, webhook } from "../../src/webhooks/index.ts";
import { closeAll, second, setUp } from "../runtime/runtime.fixture.ts";
import { bytes, secret, signed as signedHeaders } from "./signing.fixture.ts";

afterEach(closeAll);

const workflows = [
  { id: "order", nodes: [{ id: "paid", type: "signal", data: { name: "paid", key: "{{ input.order }}" } }], edges: [] },
  { id: "strict", nodes: [{ id: "paid", type: "signal", data: { name: "paid", schema: { type: "number" } } }], edges: [] },
];
interface Paid {
  readonly type: string;
  readonly order: string;
}

async function answerOf(responding: Promise<Response>) {
  const response = await responding;
  return { status: response.status, headers: response.headers, body: (await response.json()) as Record<string, unknown> };
}

function hooked(receive: WebhookOptions["receive"], more: Partial<WebhookOptions> = {}) {
  const { runtime, environment, store } = setUp({ workflows, nodeDefinitions: builtinNodes });
  const fetch = webhook(runtime, { secret, receive, now: () => environment.now(), ...more });
  const signed = (id: string, body: string | Buffer, at = environment.now(), key: Buffer = bytes): Record<string, string> =>
    signedHeaders(id, body, at, key);
  const send = (body: string | Buffer, headers: Record<string, string>, method = "POST") => {
    const init = method === "POST" ? { body } : {};
    return answerOf(fetch(new Request("https://example.test/hooks/payments", { method, headers, ...init })));
  };
  return { runtime, environment, store, send, signed };
}

const toAll: WebhookOptions["receive"] = ({ body }) => {
  const { type, order } = body as Paid;
  return type === "paid" ? { broadcast: "paid", key: order, payload: { by: "card" } } : null;
};
const event = JSON.stringify({ type: "paid", order: "o-7" } satisfies Paid);

describe("a web handler for the events of another service", () => {
  it("signals all that wait for it, once for each event", async () => {
    const { runtime, environment, send, signed } = hooked(toAll);
    const runs = await Promise.all(["a", "b"].map((workflowId) => runtime.start("order", { workflowId, input: { order: "o-7" } })));
    await environment.advance(second);
    const headers = signed("evt_1", event);
    expect(await send(event, headers)).toMatchObject({ status: 200, body: { reached: 2, refused: 0 } });
    await environment.advance(second);
    expect(await Promise.all(runs.map((run) => run.result()))).toEqual([{ by: "card" }, { by: "card" }]);
    expect(await send(event, headers)).toMatchObject({ status: 200, body: { reached: 0 } });
    const other = JSON.stringify({ type: "viewed" });
    expect(await send(other, signed("evt_2", other))).toMatchObject({ status: 200, body: { ignored: true } });
  });

  it("reads a whole number that a JavaScript number cannot hold as text, exactly as the sender has written it", async () => {
    const seen: unknown[] = [];
    const { send, signed } = hooked(({ body }) => {
      seen.push(body);
      return null;
    });
    const large = '{"id":7615917337495251231,"few":12}';
    expect(await send(large, signed("evt_1", large))).toMatchObject({ status: 200 });
    expect(seen).toEqual([{ id: "7615917337495251231", few: 12 }]);
  });

  it("counts events of two senders apart, although they have one id", async () => {
    const { runtime, environment, send, signed } = hooked(toAll, { sender: "bank" });
    const shop = webhook(runtime, { secret, receive: toAll, sender: "shop", now: () => environment.now() });
    const starting = (sender: string) =>
      webhook(runtime, { secret, sender, receive: () => ({ start: "order", input: { order: "o-8" } }), now: () => environment.now() });
    const request = () => new Request("https://example.test/", { method: "POST", headers: signed("evt_1", event), body: event });
    for (const workflowId of ["a", "b"]) {
      const run = await runtime.start("order", { workflowId, input: { order: "o-7" } });
      await environment.advance(second);
      const { status, body } = workflowId === "a" ? await send(event, signed("evt_1", event)) : await answerOf(shop(request()));
      expect({ status, reached: body.reached }).toEqual({ status: 200, reached: 1 });
      await environment.advance(second);
      expect(await run.result()).toEqual({ by: "card" });
    }
    expect(await send(event, signed("evt_1", event))).toMatchObject({ body: { reached: 0 } });
    expect(await answerOf(starting("bank")(request()))).toMatchObject({ body: { workflowId: "bank:evt_1" } });
    expect(await answerOf(starting("shop")(request()))).toMatchObject({ body: { workflowId: "shop:evt_1" } });
  });

  it("starts an execution under the id of the event, so that it is started once", async () => {
    const { send, signed, store } = hooked(({ body }) => ({ start: "order", input: body }));
    for (let times = 0; times < 3; times++)
      expect(await send(event, signed("evt_1", event))).toMatchObject({ status: 200, body: { workflowId: "evt_1" } });
    expect((await store.list()).items).toHaveLength(1);
  });

  it("signals one execution, once for each event", async () => {
    const { runtime, environment, send, signed } = hooked(() => ({ signal: "paid", to: "o", key: "k", payload: 1 }));
    const run = await runtime.start("order", { workflowId: "o", input: { order: "k" } });
    await environment.advance(second);
    expect(await send(event, signed("evt_1", event))).toMatchObject({ status: 200, body: { applied: true } });
    expect(await send(event, signed("evt_1", event))).toMatchObject({ status: 200, body: { applied: false } });
    expect(await run.result()).toBe(1);
  });

  it("refuses what is not signed by the secret, for this body, now", async () => {
    let received = 0;
    const { environment, send, signed } = hooked(() => {
      received++;
      return null;
    });
    const good = signed("evt_1", event);
    const minutes = 60 * second;
    const wrong: Record<string, string>[] = [
      {},
      signed("evt_1", event, environment.now() - 6 * minutes),
      signed("evt_1", event, environment.now() + 6 * minutes),
      signed("evt_1", event, environment.now(), Buffer.alloc(32, 8)),
      signed("evt_1", `${event} `),
      { ...good, "webhook-id": "evt_2" },
      { ...good, "webhook-timestamp": `${Number(good["webhook-timestamp"]) + 1}` },
      { ...good, "webhook-signature": good["webhook-signature"]!.slice(3) },
      { ...good, "webhook-signature": "v1," },
      { ...good, "webhook-signature": `v1a,${good["webhook-signature"]!.slice(3)}` },
      { ...good, "webhook-timestamp": "soon" },
    ];
    for (const headers of wrong) expect((await send(event, headers)).status, JSON.stringify(headers)).toBe(401);
    expect(received).toBe(0);
    expect((await send(event, good, "GET")).status).toBe(405);
    const several = { ...good, "webhook-signature": `v1,${Buffer.alloc(32).toString("base64")} ${good["webhook-signature"]}` };
    expect([(await send(event, several)).status, received]).toEqual([200, 1]);
    expect((await send("{", signed("evt_1", "{"))).status).toBe(400);
    const long = "x".repeat(2 ** 20 + 1);
    expect((await send(long, signed("evt_1", long))).status).toBe(413);
  });

  it("does nothing where what an event does has a member that is none, two answers, or none at all", async () => {
    const wrong: unknown[] = [
      undefined,
      "paid",
      { signal: "paid", to: "o", kee: "k" },
      { start: "order", workflowid: "o" },
      { broadcast: "paid", key: "k", to: "o" },
      { start: "order", signal: "paid", to: "o" },
    ];
    const { runtime, send, signed, store } = hooked(() => wrong.shift() as never);
    await runtime.start("order", { workflowId: "o", input: { order: "k" } });
    for (let nth = 0; nth < 6; nth++)
      expect(await send(event, signed(`evt_${nth}`, event)), `${nth}`).toMatchObject({
        status: 400,
        body: { error: expect.stringMatching(/^OPTION_(UNKNOWN|INVALID)$/) },
      });
    expect((await store.list()).items).toHaveLength(1);
  });

  it("takes each of several secrets, while one is replaced", async () => {
    const next = Buffer.alloc(24, 9);
    const { send, signed, environment } = hooked(() => null, { secret: [`whsec_${next.toString("base64")}`, secret] });
    expect((await send(event, signed("evt_1", event))).status).toBe(200);
    expect((await send(event, signed("evt_1", event, environment.now(), next))).status).toBe(200);
  });

  it("answers by the code of what went wrong, without its text, so that the sender tries again or not", async () => {
    const results: (() => never | ReturnType<WebhookOptions["receive"]>)[] = [
      () => ({ signal: "paid", to: "nobody" }),
      () => ({ start: "nothing" }),
      () => ({ wrong: 1 }) as never,
      () => {
        throw new TypeError("a secret text");
      },
      () => {
        throw new StepfoldError("STORE_UNAVAILABLE", { store: "s", reason: "away" });
      },
    ];
    const { send, signed } = hooked(() => results.shift()!());
    const answers = [];
    for (let nth = 0; nth < 5; nth++) answers.push(await send(event, signed(`evt_${nth}`, event)));
    expect(answers.map(({ status, body }) => [status, body.error])).toEqual([
      [404, "WORKFLOW_NOT_FOUND"],
      [404, "DEFINITION_UNKNOWN"],
      [400, "OPTION_INVALID"],
      [500, "UNKNOWN"],
      [503, "STORE_UNAVAILABLE"],
    ]);
    expect(answers.at(-1)!.headers.get("retry-after")).toBe("5");
  });

  it("tells the host what went wrong, and answers whatever becomes of that", async () => {
    const [told, secretText]: [unknown[][], TypeError] = [[], new TypeError("a secret text")];
    const results = [() => ({ start: "nothing" }), () => null, () => Promise.reject(secretText), () => Promise.reject(secretText)];
    const { send, signed } = hooked(() => results.shift()!(), {
      onProblem(...problem) {
        told.push(problem);
        if (told.length === 3) throw new Error("the log is full");
      },
    });
    const statuses: number[] = [];
    for (let nth = 0; nth < 4; nth++) statuses.push((await send(event, signed(`evt_${nth}`, event))).status);
    // an event with a wrong signature is not reported to the host
    expect((await send(event, { ...signed("evt_4", event), "webhook-id": "evt_5" })).status).toBe(401);
    expect(statuses).toEqual([404, 200, 500, 500]);
    expect(told).toEqual([
      [expect.objectContaining({ code: "DEFINITION_UNKNOWN" }), "evt_0"],
      [secretText, "evt_2"],
      [secretText, "evt_3"],
    ]);
  });

  it.each([
    [{ secret: "text" }],
    [{ secret, sender: "a bank" }],
    [{ secret, sender: 1 }],
    [{ secret: [] }],
    [{ secret: "whsec_AAAA" }],
    [{ secret: "whsec_!" }],
    [{ receive: 7 }],
    [{ onProblem: "log" }],
    [{ toleranceMs: -1 }],
  ])("is not made with %j", async (options) => {
    const make = (): unknown => webhook({} as never, { secret, receive: () => null, ...(options as object) } as never);
    expect(make).toThrow(expect.objectContaining({ code: "OPTION_INVALID" }));
  });
});

describe("a signature", () => {
  const kept = (): { bodies: unknown[]; problems: unknown[]; hook: ReturnType<typeof hooked> } => {
    const [bodies, problems]: [unknown[], unknown[]] = [[], []];
    const receive = ({ body }: { readonly body: unknown }): null => {
      bodies.push(body);
      return null;
    };
    return { bodies, problems, hook: hooked(receive, { onProblem: (error, id) => problems.push([(error as StepfoldError).code, id]) }) };
  };
  const mark = Buffer.from([0xef, 0xbb, 0xbf]);
  const text = (content: string): Buffer => Buffer.from(content, "utf8");

  it("is over the bytes of the body: other bytes that would be read as the same text are not signed", async () => {
    const { bodies, hook } = kept();
    const { send, signed } = hook;
    const replaced = text('{"name":"\ufffd"}');
    const headers = signed("evt_1", replaced);
    for (const bytes of [[0xff], [0xc3], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xc0, 0x80]]) {
      const other = Buffer.concat([text('{"name":"'), Buffer.from(bytes), text('"}')]);
      expect((await send(other, headers)).status, `${bytes}`).toBe(401);
    }
    for (const other of [Buffer.concat([mark, replaced]), Buffer.concat([replaced, text("\n")]), Buffer.concat([replaced, Buffer.of(0)])])
      expect((await send(other, headers)).status).toBe(401);
    expect(bodies).toEqual([]);
    expect((await send(replaced, headers)).status).toBe(200);
    expect(bodies).toEqual([{ name: "\ufffd" }]);
  });

  it("over a body with a byte-order mark counts, and the mark is skipped", async () => {
    const { bodies, hook } = kept();
    const body = Buffer.concat([mark, text('{"name":"größe"}')]);
    expect((await hook.send(body, hook.signed("evt_1", body))).status).toBe(200);
    const two = Buffer.concat([mark, body]);
    expect(await hook.send(two, hook.signed("evt_2", two))).toMatchObject({ status: 400, body: { error: "VALUE_NOT_JSON" } });
    expect(bodies).toEqual([{ name: "größe" }]);
  });

  it.each([
    ["a byte that is none", [0xff]],
    ["a character that is cut off", [0xe2, 0x82]],
    ["half of a pair", [0xed, 0xa0, 0x80]],
    ["a zero in two bytes", [0xc0, 0x80]],
  ])("over a body that is not UTF-8 does not make it JSON: %s is refused, and not replaced", async (_, bytes) => {
    const { bodies, problems, hook } = kept();
    const body = Buffer.concat([text('{"name":"'), Buffer.from(bytes), text('"}')]);
    expect(await hook.send(body, hook.signed("evt_1", body))).toMatchObject({ status: 400, body: { error: "VALUE_NOT_JSON" } });
    expect(bodies).toEqual([]);
    expect(problems).toEqual([["VALUE_NOT_JSON", "evt_1"]]);
  });

  it("belongs to one id, one time and one body: the same bytes cannot be split in another way", async () => {
    const { bodies, hook } = kept();
    const { send, signed, environment } = hook;
    const now = Math.floor(environment.now() / 1_000);
    const before = environment.now() - 3_600_000;
    // an event of an hour ago whose body is a number that begins with the present time
    const old = signed("evt_1", `${now}.5`, before);
    const again = { ...old, "webhook-id": `evt_1.${old["webhook-timestamp"]}`, "webhook-timestamp": `${now}` };
    expect((await send("5", again)).status).toBe(401);
    expect((await send(`${now}.5`, old)).status).toBe(401);
    for (const id of ["evt.1", ".", "evt_1.", ".evt_1", "e.v.t", `${"x".repeat(199)}.`, "x".repeat(201), "evt 1", "evt\u00e9"])
      expect((await send(event, signed(id, event))).status, id).toBe(401);
    for (const id of ["e", "msg_2KWPBgLlAfxdpx2AI54pPJ85f4W", "a-b_c:d/e+f=", "x".repeat(200)])
      expect((await send(event, signed(id, event))).status, id).toBe(200);
    expect(bodies).toHaveLength(4);
  });

  it("counts whatever pieces the body comes in", async () => {
    const { bodies, hook } = kept();
    const body = text('{"name":"größe 👍🏽"}');
    const pieces = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of body) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    const fetch = webhook(hook.runtime, {
      secret,
      now: () => hook.environment.now(),
      receive({ body: read }) {
        bodies.push(read);
        return null;
      },
    });
    const init = { method: "POST", headers: hook.signed("evt_1", body), body: pieces, duplex: "half" } as RequestInit;
    expect((await fetch(new Request("https://example.test/", init))).status).toBe(200);
    expect(bodies).toEqual([{ name: "größe 👍🏽" }]);
  });
});
