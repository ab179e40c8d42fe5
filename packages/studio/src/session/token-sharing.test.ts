import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type TokenChannel, TokenSharing } from "./token-sharing.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Tabs of one origin: what one says, all others hear. */
function origin() {
  const heard: ((event: { readonly data: unknown }) => void)[] = [];
  const said: unknown[] = [];
  const open = (): TokenChannel => {
    let own: (typeof heard)[number] | null = null;
    return {
      postMessage: (data) => {
        said.push(data);
        for (const listener of heard) if (listener !== own) listener({ data });
      },
      addEventListener: (_, listener) => {
        own = listener;
        heard.push(listener);
      },
    };
  };
  const tell = (data: unknown): void => {
    for (const listener of heard) listener({ data });
  };
  return { open, said, tell };
}

test("a new tab gets the token of one that has it", async () => {
  const { open } = origin();
  new TokenSharing(open, "first").share(() => "secret");
  new TokenSharing(open, "second");
  expect(await new TokenSharing(open, "third").ask()).toBe("secret");
});

test("without another tab, or if none has a token, there is none after a moment", async () => {
  const { open, said } = origin();
  new TokenSharing(open, "first").share(() => null);
  const asked = new TokenSharing(open, "second").ask();
  vi.advanceTimersByTime(400);
  expect(await asked).toBeNull();
  expect(said).toEqual([{ type: "ask", from: "second" }]);
});

test("what was not asked for, or is no token, is ignored", async () => {
  const { open, tell } = origin();
  const sharing = new TokenSharing(open, "me");
  tell({ type: "token", to: "me", token: "early" });
  const asked = sharing.ask();
  for (const data of [null, "token", { type: "token", to: "other", token: "x" }, { type: "token", to: "me", token: 7 }, { type: "ask" }])
    tell(data);
  tell({ type: "token", to: "me", token: "a".repeat(10_001) });
  tell({ type: "token", to: "me", token: "secret" });
  expect(await asked).toBe("secret");
});

test("where there are no channels, no tab is asked", async () => {
  const none = (): TokenChannel => {
    throw new ReferenceError("BroadcastChannel is not defined");
  };
  expect(await new TokenSharing(none, "me").ask()).toBeNull();
});
