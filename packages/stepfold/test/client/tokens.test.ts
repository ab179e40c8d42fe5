import { describe, expect, it } from "vitest";
import { nextOf, setUp } from "./streams.fixture.ts";

/** A function that gives the tokens one after the other, and counts its calls. */
function tokens(...given: readonly string[]) {
  const state = { calls: 0 };
  const token = async (): Promise<string> => given[state.calls++] ?? "none-left";
  return { state, token };
}

const expired = [401, "UNAUTHENTICATED", { type: "urn:stepfold:server-error:UNAUTHENTICATED" }] as const;

describe("a function that gives the token", () => {
  it("is called once for all requests, also for those at the same time", async () => {
    const { state, token } = tokens("t-1");
    const { server, client } = await setUp({ token });
    const both = Promise.all([client.me(), client.workflows()]);
    for (let i = 0; i < 2; i++) {
      const exchange = await server.next();
      expect(exchange.headers.authorization).toBe("Bearer t-1");
      exchange.reply(200, {});
    }
    await both;
    const third = client.health();
    (await server.next()).reply(200, {});
    await third;
    expect(state.calls).toBe(1);
  });

  it("is called again when its token is refused, and the same request is made again", async () => {
    const { state, token } = tokens("t-1", "t-2");
    const { server, client } = await setUp({ token });
    const answering = client.executions.answer("order-1", { payload: 7 });
    (await server.next()).refuse(...expired);
    const repeated = await server.next();
    expect(repeated).toMatchObject({ method: "POST", url: "/v1/executions/order-1/answer", body: '{"payload":7}' });
    expect(repeated.headers.authorization).toBe("Bearer t-2");
    repeated.reply(200, { applied: true });
    expect(await answering).toEqual({ applied: true });
    expect(state.calls).toBe(2);
  });

  it("is called once more only: the second refusal is the caller's", async () => {
    const { state, token } = tokens("t-1", "t-2", "t-3");
    const { server, client } = await setUp({ token });
    const asking = client.me().catch((error: unknown) => error);
    (await server.next()).refuse(...expired);
    (await server.next()).refuse(...expired);
    expect(await asking).toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
    expect(server.waitingCount).toBe(0);
    expect(state.calls).toBe(2);
  });

  it("is called once for several requests whose token is refused at the same time", async () => {
    const { state, token } = tokens("t-1", "t-2", "t-3");
    const { server, client } = await setUp({ token });
    const all = Promise.all([client.me(), client.workflows()]);
    const first = await server.next();
    const second = await server.next();
    first.refuse(...expired);
    const firstAgain = await server.next();
    second.refuse(...expired);
    const secondAgain = await server.next();
    expect([firstAgain, secondAgain].map(({ headers }) => headers.authorization)).toEqual(["Bearer t-2", "Bearer t-2"]);
    firstAgain.reply(200, {});
    secondAgain.reply(200, {});
    await all;
    expect(state.calls).toBe(2);
  });

  it("may fail: its error is the caller's, and the next request asks again", async () => {
    let calls = 0;
    const token = (): string => {
      if (++calls === 1) throw new RangeError("no session");
      return "t-2";
    };
    const { server, client } = await setUp({ token });
    await expect(client.me()).rejects.toThrow(new RangeError("no session"));
    const second = client.me();
    const exchange = await server.next();
    expect(exchange.headers.authorization).toBe("Bearer t-2");
    exchange.reply(200, {});
    await second;
  });

  it("may never answer: the signal of the call ends the waiting", async () => {
    const abort = new AbortController();
    const { server, client } = await setUp({ token: () => new Promise(() => undefined) });
    const asking = client.me({ signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(asking).rejects.toThrow("enough");
    expect(server.waitingCount).toBe(0);
  });

  it("that fails ends a stream with its error", async () => {
    const token = (): never => {
      throw new RangeError("no session");
    };
    const { client, time } = await setUp({ token });
    await expect(client.executions.watch("order-1").next()).rejects.toThrow(new RangeError("no session"));
    expect(time.activeTimers).toBe(0);
  });
});

describe("a text as token", () => {
  it("that is refused is not sent again", async () => {
    const { server, client } = await setUp({ token: "t-1" });
    const asking = client.me().catch((error: unknown) => error);
    (await server.next()).refuse(...expired);
    expect(await asking).toMatchObject({ code: "UNAUTHENTICATED", status: 401, retryable: false });
    expect(server.waitingCount).toBe(0);
  });
});

describe("a token that expires while a stream is open", () => {
  it("is asked for again when the stream connects again", async () => {
    const { token } = tokens("t-1", "t-2");
    const { server, client, time } = await setUp({ token });
    const frames = client.executions.watch("order-1");
    const link = nextOf(frames);
    const first = (await server.next()).openStream();
    await link;
    const lost = nextOf(frames);
    first.cut();
    expect(await lost).toMatchObject({ type: "link", isLive: false, againInMs: 1_000 });
    const again = nextOf(frames);
    await time.advance(1_000);
    (await server.next()).refuse(...expired);
    const second = await server.next();
    expect(second.headers.authorization).toBe("Bearer t-2");
    second.openStream();
    expect(await again).toEqual({ type: "link", isLive: true });
    await frames.return();
  });

  it("ends the stream if there is no other", async () => {
    const { server, client, time } = await setUp({ token: "t-1" });
    const frames = client.executions.watch("order-1");
    const link = nextOf(frames);
    const first = (await server.next()).openStream();
    await link;
    const lost = nextOf(frames);
    first.cut();
    await lost;
    const again = frames.next().catch((error: unknown) => error);
    await time.advance(1_000);
    (await server.next()).refuse(...expired);
    expect(await again).toMatchObject({ code: "UNAUTHENTICATED", status: 401 });
    expect(await frames.next()).toEqual({ done: true, value: undefined });
    expect(time.activeTimers).toBe(0);
  });
});
