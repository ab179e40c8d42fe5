import { describe, expect, it } from "vitest";
import { createClient, RequestError } from "../../src/client/index.ts";
import { StepfoldError } from "../../src/core/errors/stepfold-error.ts";
import { LoopbackServer } from "./loopback-server.fixture.ts";
import { setUp } from "./streams.fixture.ts";

/** The error of a call whose request is answered as given. */
async function errorOf(answer: (exchange: Awaited<ReturnType<LoopbackServer["next"]>>) => unknown): Promise<RequestError> {
  const { server, client } = await setUp();
  const failing = client.executions.answer("order-1", { payload: {} }).then(
    () => expect.fail("the call has not failed"),
    (error: unknown) => error,
  );
  await answer(await server.next());
  const error = await failing;
  if (!(error instanceof RequestError)) throw error;
  return error;
}

describe("a refusal of the server", () => {
  it("with a code of the engine is recognised as the engine's own errors are", async () => {
    const details = { workflowId: "order-1", waitId: "0@4" };
    const error = await errorOf((exchange) => exchange.refuse(409, "WAIT_GONE", { details }));
    expect(error.toJSON()).toEqual({
      code: "WAIT_GONE",
      message: "It is WAIT_GONE.",
      status: 409,
      retryable: false,
      details,
      requestId: "r-1",
    });
    expect(error).toMatchObject({ name: "RequestError", retryAfterMs: undefined });
    expect(StepfoldError.is(error, "WAIT_GONE")).toBe(true);
    expect(StepfoldError.is(error, "WAIT_EXPIRED")).toBe(false);
    if (StepfoldError.is(error, "WAIT_GONE")) expect(JSON.parse(JSON.stringify(error)).code).toBe("WAIT_GONE");
  });

  it("with a code of the server is none of the engine's errors", async () => {
    const type = "urn:stepfold:server-error:RATE_LIMITED";
    const headers = { "retry-after": "7" };
    const error = await errorOf((exchange) => exchange.refuse(429, "RATE_LIMITED", { type, retryable: true }, headers));
    expect(error).toMatchObject({ code: "RATE_LIMITED", status: 429, retryable: true, retryAfterMs: 7_000 });
    expect(StepfoldError.is(error)).toBe(false);
  });

  it("says when to come back, also as a date", async () => {
    const { server, client, time } = await setUp();
    const failing = client.me().catch((error: unknown) => error);
    const at = new Date(time.now() + 90_000).toUTCString();
    (await server.next()).refuse(503, "STORE_UNAVAILABLE", {}, { "retry-after": at });
    expect(await failing).toMatchObject({ code: "STORE_UNAVAILABLE", retryAfterMs: 90_000 });
  });

  it.each([["soon"], ["-1"], ["Thu, 01 Jan 1970 00:00:00 GMT"], [""]])("says nothing by the header %j", async (value) => {
    const error = await errorOf((exchange) => exchange.refuse(503, "STORE_UNAVAILABLE", {}, { "retry-after": value }));
    expect(error.retryAfterMs).toBeUndefined();
  });

  it("for a wrong host comes after a second request, which fetch makes by itself on another connection", async () => {
    const { server, client } = await setUp();
    const failing = client.me().catch((error: unknown) => error);
    const type = "urn:stepfold:server-error:HOST_REFUSED";
    for (let i = 0; i < 2; i++) (await server.next()).refuse(421, "HOST_REFUSED", { type });
    expect(await failing).toMatchObject({ code: "HOST_REFUSED", status: 421, retryable: false });
  });

  it("takes its code from the type, and its text from whatever is a text", async () => {
    const more = { code: "OTHER", detail: { toString: 1 }, title: "Gone", retryable: "yes", details: null, requestId: 7 };
    const error = await errorOf((exchange) => exchange.refuse(409, "WAIT_GONE", more));
    expect(error).toMatchObject({ code: "WAIT_GONE", message: "Gone", retryable: false, details: {}, requestId: undefined });
  });
});

describe("what is no answer of the API", () => {
  const page = `<html>${"x".repeat(300)}</html>`;

  it.each([
    [502, true],
    [504, true],
    [429, true],
    [408, true],
    [425, true],
    [404, false],
    [403, false],
    [200, false],
  ])("a page of a proxy with the status %i", async (status, retryable) => {
    const error = await errorOf((exchange) => exchange.reply(status, page, { "content-type": "text/html" }));
    expect(error).toMatchObject({ code: "UNEXPECTED_ANSWER", status, retryable, details: { text: page.slice(0, 200) } });
    expect(error.message).toContain(String(status));
    expect(error.message.length).toBeLessThan(300);
    expect(StepfoldError.is(error)).toBe(false);
  });

  it.each([
    ["JSON that is no problem", JSON.stringify({ error: "WAIT_GONE", code: "WAIT_GONE" })],
    ["a problem of something else", JSON.stringify({ type: "about:blank", code: "WAIT_GONE", title: "Gone" })],
    ["a problem whose type has more than a code", JSON.stringify({ type: "urn:stepfold:error:WAIT_GONE/x" })],
    ["a problem whose type is no text", '{"type":{"toString":1,"valueOf":1}}'],
    ["JSON that is no object", '"urn:stepfold:error:WAIT_GONE"'],
    ["null", "null"],
    ["nothing", ""],
  ])("a refusal that is %s", async (_, body) => {
    const error = await errorOf((exchange) => exchange.reply(400, body, { "content-type": "application/problem+json" }));
    expect(error).toMatchObject({ code: "UNEXPECTED_ANSWER", status: 400, details: { text: body } });
  });

  it.each([["", "null", "7", '"text"', "{", "<html>"]])("an answer that is no object of JSON: %j", async (body) => {
    expect(await errorOf((exchange) => exchange.reply(200, body))).toMatchObject({ code: "UNEXPECTED_ANSWER", status: 200 });
  });

  it("an answer of more than 64 MiB, which is not read to its end", async () => {
    const part = new Uint8Array(1024 * 1024).fill(0x20);
    let writtenMiB = 0;
    const error = await errorOf(async (exchange) => {
      exchange.openStream();
      // the connection is closed by the client: then a write fails
      while (writtenMiB < 1_000) {
        const isWritten = await Promise.race([exchange.write(part).then(() => true), exchange.closed.then(() => false)]).catch(() => false);
        if (!isWritten) return;
        writtenMiB++;
      }
    });
    expect(error).toMatchObject({ code: "UNEXPECTED_ANSWER", status: 200, retryable: false });
    expect(writtenMiB).toBeGreaterThanOrEqual(64);
    expect(writtenMiB).toBeLessThan(128);
  });
});

describe("a connection that is lost", () => {
  it("before the request: nothing listens there", async () => {
    const server = await LoopbackServer.open();
    await server.close();
    const error = await createClient({ url: server.url })
      .me()
      .catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: "CONNECTION_LOST", status: 0, retryable: true, details: {}, cause: expect.any(TypeError) });
    expect(StepfoldError.is(error)).toBe(false);
  });

  it("before the answer", async () => {
    const error = await errorOf((exchange) => exchange.cut());
    expect(error).toMatchObject({ code: "CONNECTION_LOST", status: 0, retryable: true, cause: expect.any(Error) });
  });

  it.each([200, 500])("in the middle of an answer with the status %i", async (status) => {
    const error = await errorOf(async (exchange) => {
      exchange.openStream(status);
      await exchange.write('{"items":[');
      exchange.cut();
    });
    expect(error).toMatchObject({ code: "CONNECTION_LOST", status: 0, retryable: true, cause: expect.any(Error) });
  });
});
