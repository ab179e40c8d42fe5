import { describe, expect, it } from "vitest";
import { isRestartOf, successorId } from "./successor-id.ts";

describe("the id of a restart", () => {
  it("counts at the end of the id", () => {
    expect(successorId("order-7")).toBe("order-7~2");
    expect(successorId("order-7~2")).toBe("order-7~3");
    expect(successorId("order~x")).toBe("order~x~2");
  });

  it("tells of what it is a restart", () => {
    expect(isRestartOf("a~2", "a")).toBe(true);
    expect(isRestartOf("a~12", "a~3")).toBe(true);
    expect(isRestartOf("a", "a")).toBe(false);
    expect(isRestartOf("a~2", "a~2")).toBe(false);
    expect(isRestartOf("b~2", "a")).toBe(false);
    expect(isRestartOf("a", "a~2")).toBe(false);
  });
});
