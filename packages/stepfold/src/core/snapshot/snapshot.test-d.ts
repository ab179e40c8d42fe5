import { describe, expectTypeOf, it } from "vitest";
import type { ListQuery } from "../../ports/execution-list.ts";
import { isStatus, type Status, type statuses } from "./snapshot.ts";

describe("statuses", () => {
  it("are a list of all, and texts that are one of them", () => {
    expectTypeOf<(typeof statuses)[number]>().toEqualTypeOf<Status>();
    const asked = new URLSearchParams("status=paused").getAll("status").filter(isStatus);
    expectTypeOf(asked).toExtend<NonNullable<ListQuery["status"]>>();
    expectTypeOf<readonly string[]>().not.toExtend<NonNullable<ListQuery["status"]>>();
  });
});
