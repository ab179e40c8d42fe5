import { expect, test } from "vitest";
import { FakeStorage } from "../../test/storage.fixture.ts";
import { readToken, takeToken, writeToken } from "./token.ts";

function take(hash: string, storage: FakeStorage): string | null {
  let address: string | null = null;
  const history = {
    replaceState: (_: unknown, __: string, to?: string | URL | null) => {
      address = String(to);
    },
  };
  takeToken({ hash, pathname: "/executions/order-1", search: "?tab=events" }, history, storage);
  return address;
}

test("the token of the address is kept for this tab, and leaves the address", () => {
  const storage = new FakeStorage();
  expect(take("#t=8fK2-_x", storage)).toBe("/executions/order-1?tab=events");
  expect(readToken(storage)).toBe("8fK2-_x");
});

test("an address without a token stays as it is, and so does the token of the tab", () => {
  const storage = new FakeStorage();
  writeToken(storage, "old");
  expect(take("#section", storage)).toBeNull();
  expect(take("", storage)).toBeNull();
  expect(readToken(storage)).toBe("old");
});

test("an empty token leaves the address and changes nothing", () => {
  const storage = new FakeStorage();
  writeToken(storage, "old");
  expect(take("#t=", storage)).not.toBeNull();
  expect(readToken(storage)).toBe("old");
});
