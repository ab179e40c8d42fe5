import { expect, test } from "vitest";
import { Announcer } from "./announcer.ts";

/** An announcer whose pauses end when the test says so. */
function announcerWithPauses() {
  const pauses: { readonly call: () => void; readonly delayMs: number }[] = [];
  const announcer = new Announcer((call, delayMs) => void pauses.push({ call, delayMs }));
  const said: string[] = [];
  announcer.subscribe(() => said.push(announcer.getSentence()));
  return { announcer, pauses, said };
}

test("the first sentence is said at once, and then five seconds nothing", () => {
  const { announcer, pauses, said } = announcerWithPauses();
  announcer.announce("1 new row.");
  announcer.announce("2 new rows.");
  announcer.announce("3 new rows.");
  expect(said).toEqual(["1 new row."]);
  expect(pauses[0]?.delayMs).toBe(5_000);
});

test("after the pause only the last sentence is said, and the next pause begins", () => {
  const { announcer, pauses, said } = announcerWithPauses();
  announcer.announce("1 new row.");
  announcer.announce("2 new rows.");
  announcer.announce("3 new rows.");
  pauses.shift()!.call();
  expect(said).toEqual(["1 new row.", "3 new rows."]);
  announcer.announce("4 new rows.");
  expect(said).toHaveLength(2);
});

test("after a pause in which nothing came, a sentence is said at once", () => {
  const { announcer, pauses, said } = announcerWithPauses();
  announcer.announce("one");
  pauses.shift()!.call();
  announcer.announce("two");
  expect(said).toEqual(["one", "two"]);
});
