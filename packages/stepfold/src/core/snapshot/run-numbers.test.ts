import { expect, it } from "vitest";
import { runNumbers } from "./run-numbers.ts";

it("names neither the first run nor restarts that have not happened", () => {
  expect(runNumbers({})).toEqual({});
  expect(runNumbers({ restarts: 0 })).toEqual({});
  expect(runNumbers({ run: { number: 3, since: 9, at: 0 }, restarts: 2 })).toEqual({ run: 3, restarts: 2 });
});

it("counts an event that was committed together with the beginning of the next run to the run before", () => {
  const run = { number: 3, since: 9, at: 0 };
  expect([8, 9, 10].map((version) => runNumbers({ run }, version))).toEqual([{ run: 2 }, { run: 3 }, { run: 3 }]);
  expect(runNumbers({ run: { number: 2, since: 4, at: 0 } }, 3)).toEqual({});
});
