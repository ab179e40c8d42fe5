import type { Event } from "stepfold";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { workLog } from "./work-log.ts";

const failed = { type: "failed", error: { name: "Error", message: "no" }, retryAt: null, nodeId: "fetch" } as unknown as Event;

/** The lines for these events, without their times. */
function logged(...events: readonly Event[]): string[] {
  const written: string[] = [];
  const write = vi.spyOn(process.stdout, "write").mockImplementation((text) => written.push(String(text)) > 0);
  onTestFinished(() => write.mockRestore());
  const log = workLog(false);
  for (const event of events) log.event("e3", event);
  return written.map((line) => line.replace(/^\S+ /, "").trimEnd());
}

describe("workLog", () => {
  it("USE, small: names the item of a map, and of maps inside each other", () => {
    const lines = logged(failed, { ...failed, scope: "0#1/3" } as Event, { ...failed, scope: "0#1/3>0#1/12" } as Event);
    expect(lines).toEqual(["e3 ✖ fetch: no", "e3 ✖ fetch of item 3: no", "e3 ✖ fetch of item 3/12: no"]);
  });
});
