import { describe, expect, it } from "vitest";
import { forkId } from "./path-id.ts";

const never = (): boolean => false;

describe("forkId", () => {
  it("numbers the forks of a path", () => {
    expect(forkId("0", 1, never)).toBe("0.1");
    expect(forkId("0.1", 12, never)).toBe("0.1.12");
  });

  it("keeps ids of up to 32 characters, and hashes longer ones", () => {
    const parent = "0.1.1.1.1.1.1.1.1.1.1.1.1.1.1.1";
    expect(parent).toHaveLength(31);
    expect(forkId(parent.slice(0, 30), 1, never)).toHaveLength(32);
    const hashed = forkId(parent, 1, never);
    expect(hashed).toMatch(/^~[0-9a-z]{1,14}$/);
    expect(hashed).toBe(forkId(parent, 1, never));
    expect(hashed).not.toBe(forkId(parent, 2, never));
    expect(forkId(hashed, 1, never)).toBe(`${hashed}.1`);
  });

  it("hashes again while an open path has the id", () => {
    const parent = "0".repeat(32);
    const first = forkId(parent, 1, never);
    const second = forkId(parent, 1, (id) => id === first);
    expect(second).toMatch(/^~/);
    expect(second).not.toBe(first);
  });
});
