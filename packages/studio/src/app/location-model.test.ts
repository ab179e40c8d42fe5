import { expect, test } from "vitest";
import { LocationModel, withSearch } from "./location-model.ts";

/** A window with a history, as a browser has it. */
function fakeWindow(address: string) {
  const entries = [address];
  let back: () => void = () => undefined;
  const at = (): URL => new URL(entries.at(-1)!, "http://studio.example");
  return {
    entries,
    location: {
      get pathname() {
        return at().pathname;
      },
      get search() {
        return at().search;
      },
      hash: "",
    },
    history: {
      pushState: (_: unknown, __: string, to?: string | URL | null) => void entries.push(String(to)),
      replaceState: (_: unknown, __: string, to?: string | URL | null) => void entries.splice(-1, 1, String(to)),
    },
    addEventListener: (_: "popstate", listener: () => void) => {
      back = listener;
    },
    goBack() {
      entries.pop();
      back();
    },
  };
}

test("it goes to another page, and back", () => {
  const window = fakeWindow("/executions?status=failed");
  const model = new LocationModel(window);
  const seen: string[] = [];
  model.subscribe(() => seen.push(model.getPath() + model.getSearch()));
  model.navigate("/executions/order-1");
  window.goBack();
  expect(seen).toEqual(["/executions/order-1", "/executions?status=failed"]);
});

test("a query alone stays on the page, and can replace the entry of the history", () => {
  const window = fakeWindow("/executions/order-1");
  const model = new LocationModel(window);
  model.navigate("?tab=events");
  model.navigate("?tab=items", { replace: true });
  expect(window.entries).toEqual(["/executions/order-1", "/executions/order-1?tab=items"]);
  model.navigate("");
  expect(model.getSearch()).toBe("");
});

test("going where one is adds nothing to the history", () => {
  const window = fakeWindow("/executions?status=failed");
  new LocationModel(window).navigate("/executions?status=failed");
  expect(window.entries).toHaveLength(1);
});

test("keys of a query are changed and removed, the others stay", () => {
  expect(withSearch("?v=17&tab=graph", { tab: "a b&c", v: null })).toBe("?tab=a+b%26c");
  expect(withSearch("?v=17", { v: null })).toBe("");
});
