import type { MeView } from "stepfold/client";
import { expect, test, vi } from "vitest";
import { FakeStorage } from "../../test/storage.fixture.ts";
import { Session } from "./session.ts";
import { readToken, writeToken } from "./token.ts";

const me = { id: "ada", scopes: ["read"], tenant: null, store: { name: "memory", features: {} } } as unknown as MeView;
const answer = (body: unknown): Response => Response.json(body);
const problem = (code: string, status: number): Response =>
  Response.json(
    { type: `urn:stepfold:error:${code}`, title: code, status, detail: "No.", code, retryable: false, details: {}, requestId: "r-1" },
    { status, headers: { "content-type": "application/problem+json" } },
  );
const refusal = (): Response => problem("UNAUTHENTICATED", 401);

/** A server that takes only the tokens that are given, and notes what it was asked with. */
function serverOf(...accepted: readonly (string | null)[]) {
  const valid = new Set(accepted);
  const asked: (string | null)[] = [];
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const given = new Headers(init.headers).get("authorization")?.replace("Bearer ", "") ?? null;
    asked.push(given);
    if (!valid.has(given)) return refusal();
    return url.endsWith("/v1/me") ? answer(me) : answer({ ok: true });
  };
  return { valid, asked, fetch };
}

function sessionOf(server: ReturnType<typeof serverOf>, token: string | null = null) {
  const storage = new FakeStorage();
  writeToken(storage, token);
  return { session: new Session("http://studio.example", storage, server.fetch), storage };
}

test("a server without auth answers at once", async () => {
  const { session } = sessionOf(serverOf(null));
  await session.check();
  expect(session.getState()).toEqual({ me, question: null, failure: null });
});

test("the token of the tab is sent", async () => {
  const server = serverOf("secret");
  const { session } = sessionOf(server, "secret");
  await session.check();
  expect(server.asked).toEqual(["secret"]);
  expect(session.getState().me).toEqual(me);
});

test("without a token the page asks for one, and then goes on", async () => {
  const { session, storage } = sessionOf(serverOf("secret"));
  const checked = session.check();
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "missing", isTrying: false }));
  session.signIn("secret");
  expect(session.getState().question?.isTrying).toBe(true);
  await checked;
  expect(session.getState()).toMatchObject({ me, question: null });
  expect(readToken(storage)).toBe("secret");
});

/** Other tabs, of which one has a token. */
function tabsWith(...tokens: readonly (string | null)[]) {
  const given = [...tokens];
  const ask = vi.fn(async () => given.shift() ?? null);
  let shared: () => string | null = () => null;
  return { ask, share: (tokenOf: () => string | null) => (shared = tokenOf), shared: () => shared() };
}

function sessionBeside(server: ReturnType<typeof serverOf>, tabs: ReturnType<typeof tabsWith>, token: string | null = null) {
  const storage = new FakeStorage();
  writeToken(storage, token);
  return { session: new Session("http://studio.example", storage, server.fetch, tabs), storage };
}

test("a new tab takes the token of another one, without a question", async () => {
  const server = serverOf("secret");
  const tabs = tabsWith("secret");
  const { session, storage } = sessionBeside(server, tabs);
  const questions: unknown[] = [];
  session.subscribe(() => questions.push(session.getState().question));
  await session.check();
  expect(session.getState()).toMatchObject({ me, question: null });
  expect([readToken(storage), questions.every((question) => question === null), tabs.ask.mock.calls.length]).toEqual(["secret", true, 1]);
});

test("a tab gives only a token that the server takes", async () => {
  const tabs = tabsWith();
  const { session } = sessionBeside(serverOf("secret"), tabs, "secret");
  expect(tabs.shared()).toBeNull();
  await session.check();
  expect(tabs.shared()).toBe("secret");
  session.signOut();
  expect(tabs.shared()).toBeNull();
});

test("a token of another tab that the server does not take is no help, and is not tried again", async () => {
  const server = serverOf("secret");
  const tabs = tabsWith("old", "old", "secret");
  const { session } = sessionBeside(server, tabs, "old");
  const checked = session.check();
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "refused", isTrying: false }));
  expect(server.asked).toEqual(["old"]);
  session.signIn("secret");
  await checked;
  expect(session.getState().me).toEqual(me);
});

test("whoever signs out here is not signed in by another tab", async () => {
  const server = serverOf("secret");
  const tabs = tabsWith("secret", "secret");
  const { session } = sessionBeside(server, tabs, "secret");
  await session.check();
  session.signOut();
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "missing", isTrying: false }));
  expect(tabs.ask).not.toHaveBeenCalled();
});

test("a wrong token is asked for again", async () => {
  const { session } = sessionOf(serverOf("secret"));
  void session.check();
  await vi.waitFor(() => expect(session.getState().question).not.toBeNull());
  session.signIn("wrong");
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "refused", isTrying: false }));
  session.signIn("secret");
  await vi.waitFor(() => expect(session.getState()).toMatchObject({ me, question: null }));
});

test.each(["ключ", "secret\u200b", "two words", "line\nline"])("text that cannot be a token is asked for again: %j", async (text) => {
  const { session } = sessionOf(serverOf("secret"), text);
  void session.check();
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "refused", isTrying: false }));
  session.signIn(text);
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "refused", isTrying: false }));
  session.signIn("secret");
  await vi.waitFor(() => expect(session.getState()).toMatchObject({ me, question: null, failure: null }));
});

test("a token that ends later: what was asked waits for the next one, and who it is stays shown", async () => {
  const server = serverOf("first");
  const { session } = sessionOf(server, "first");
  await session.check();
  server.valid.delete("first");
  server.valid.add("second");
  const calls = Promise.all([session.client.health(), session.client.health()]);
  await vi.waitFor(() => expect(session.getState().question).toEqual({ reason: "refused", isTrying: false }));
  expect(session.getState().me).toEqual(me);
  session.signIn("second");
  await expect(calls).resolves.toEqual([{ ok: true }, { ok: true }]);
  expect(session.getState().question).toBeNull();
});

test("an answer that was under way when the token was refused does not hide the question", async () => {
  let isValid = true;
  let answerLate: () => void = () => undefined;
  const session = new Session("http://studio.example", new FakeStorage(), async (url) => {
    if (url.endsWith("/v1/me")) return isValid ? answer(me) : problem("UNAUTHENTICATED", 401);
    await new Promise<void>((resolve) => {
      answerLate = resolve;
    });
    return answer({ ok: true });
  });
  const late = session.client.health();
  isValid = false;
  const checked = session.check();
  await vi.waitFor(() => expect(session.getState().question).not.toBeNull());
  answerLate();
  await late;
  expect(session.getState().question).toEqual({ reason: "missing", isTrying: false });
  isValid = true;
  session.signIn("second");
  await checked;
  expect(session.getState()).toMatchObject({ me, question: null });
});

test("a call that is given up does not wait for a token", async () => {
  const { session } = sessionOf(serverOf("secret"));
  const stop = new AbortController();
  const call = session.client.health({ signal: stop.signal });
  await vi.waitFor(() => expect(session.getState().question).not.toBeNull());
  stop.abort();
  await expect(call).rejects.toMatchObject({ name: "AbortError" });
});

test("a server that does not answer is a failure, and can be asked again", async () => {
  const server = serverOf(null);
  let isDown = true;
  const session = new Session("http://studio.example", new FakeStorage(), async (url, init) => {
    if (isDown) throw new TypeError("fetch failed");
    return server.fetch(url, init);
  });
  await session.check();
  expect(session.getState()).toMatchObject({ me: null, failure: { code: "CONNECTION_LOST" } });
  isDown = false;
  await session.check();
  expect(session.getState()).toMatchObject({ me, failure: null });
});

test("a token that may not even read is a failure that is shown", async () => {
  const session = new Session("http://studio.example", new FakeStorage(), async (_, init) =>
    new Headers(init.headers).has("authorization") ? problem("FORBIDDEN", 403) : refusal(),
  );
  void session.check();
  await vi.waitFor(() => expect(session.getState().question).not.toBeNull());
  session.signIn("weak");
  await vi.waitFor(() => expect(session.getState()).toMatchObject({ me: null, question: null, failure: { code: "FORBIDDEN" } }));
});

test("signing out forgets the token and asks again", async () => {
  const { session, storage } = sessionOf(serverOf("secret"), "secret");
  await session.check();
  session.signOut();
  await vi.waitFor(() => expect(session.getState()).toMatchObject({ me: null, question: { reason: "missing" } }));
  expect(readToken(storage)).toBeNull();
});
