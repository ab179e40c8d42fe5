import { describe, expect, it } from "vitest";
import { groupCommit } from "./group-commit.ts";

interface Write {
  readonly id: string;
  readonly n: number;
}

function group(send: (writes: readonly Write[]) => Promise<readonly number[]>, maxWrites = 100) {
  return groupCommit<Write, number, number>({
    name: "test",
    send,
    resultOf: (answer) => answer,
    idOf: ({ id }) => id,
    isOutage: (cause) => cause === "away",
    maxWrites,
  });
}

describe("writes that share a round trip", () => {
  it("go together while others are under way, in order of ids", async () => {
    const sent: string[] = [];
    const queue = group(async (writes) => {
      sent.push(writes.map(({ id }) => id).join(""));
      await Promise.resolve();
      return writes.map(({ n }) => n * 10);
    });
    const first = queue.add({ id: "a", n: 1 });
    await Promise.resolve();
    await Promise.resolve();
    const rest = ["d", "c", "b"].map((id, n) => queue.add({ id, n }));
    expect(await Promise.all([first, ...rest])).toEqual([10, 0, 10, 20]);
    await queue.idle();
    expect(sent).toEqual(["a", "bcd"]);
  });

  it("of one execution are made one after the other", async () => {
    const sent: number[][] = [];
    const queue = group(async (writes) => {
      sent.push(writes.map(({ n }) => n));
      return writes.map(({ n }) => n);
    });
    await Promise.all([1, 2, 3].map((n) => queue.add({ id: "a", n })));
    expect(sent).toEqual([[1], [2], [3]]);
  });

  it("are answered also where sending them fails at once, and those after them are sent", async () => {
    const queue = group((writes) => {
      if (writes.some(({ n }) => n === 2)) throw "cannot be written";
      return Promise.resolve(writes.map(({ n }) => n));
    });
    const answers = Promise.allSettled([1, 2, 3].map((n) => queue.add({ id: String(n), n })));
    expect(await answers).toMatchObject([{ value: 1 }, { reason: "cannot be written" }, { value: 3 }]);
    await expect(queue.add({ id: "2", n: 2 })).rejects.toBe("cannot be written");
    expect(await queue.add({ id: "4", n: 4 })).toBe(4);
    await queue.idle();
  });

  it("have an answer each", async () => {
    const queue = group(async (writes) => writes.map(({ n }) => (n === 2 ? 0 : n)));
    expect(await Promise.all([1, 2, 3].map((n) => queue.add({ id: String(n), n })))).toEqual([1, 0, 3]);
  });

  it("are sent again one by one where the group failed, so that only what is wrong fails", async () => {
    const queue = group(async (writes) => {
      if (writes.some(({ n }) => n === 2)) throw "too large";
      return writes.map(({ n }) => n);
    });
    expect(await Promise.allSettled([1, 2, 3].map((n) => queue.add({ id: String(n), n })))).toMatchObject([
      { value: 1 },
      { reason: "too large" },
      { value: 3 },
    ]);
  });

  it("fail together while the database is away, and go on when it is back", async () => {
    let sends = 0;
    const queue = group(async (writes) => {
      if (sends++ === 0) throw "away";
      return writes.map(({ n }) => n);
    });
    const settled = await Promise.allSettled([1, 2, 3].map((n) => queue.add({ id: String(n), n })));
    expect(settled.map((one) => one.status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(sends).toBe(1);
    expect(await queue.add({ id: "a", n: 7 })).toBe(7);
  });

  it("are no more in one group than allowed", async () => {
    const sizes: number[] = [];
    const queue = group(async (writes) => {
      sizes.push(writes.length);
      return writes.map(({ n }) => n);
    }, 2);
    await Promise.all([1, 2, 3, 4, 5].map((n) => queue.add({ id: String(n), n })));
    expect(sizes).toEqual([2, 2, 1]);
  });
});
