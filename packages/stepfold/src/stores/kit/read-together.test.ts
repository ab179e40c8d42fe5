import { expect, it } from "vitest";
import { readTogether } from "./read-together.ts";

/** Records the ids of each round trip. Every id has a row except "none"; a round trip with "bad" fails. */
function counted() {
  const asked: (readonly string[])[] = [];
  const read = readTogether(async (ids) => {
    asked.push(ids);
    if (ids.includes("bad")) throw new RangeError("damaged");
    return new Map(ids.filter((id) => id !== "none").map((id) => [id, `row ${id}`]));
  }, 3);
  return { asked, read };
}

it("reads what is asked for in the same moment in one round trip, and each once", async () => {
  const { asked, read } = counted();
  expect(await Promise.all(["a", "b", "a"].map(read))).toEqual(["row a", "row b", "row a"]);
  expect(asked).toEqual([["a", "b"]]);
  expect(await read("none")).toBeNull();
});

it("asks for no more than so many at once", async () => {
  const { asked, read } = counted();
  await Promise.all(["a", "b", "c", "d"].map(read));
  expect(asked).toEqual([["a", "b", "c"], ["d"]]);
});

it("does not let one that cannot be read harm the others", async () => {
  const { read } = counted();
  const [good, bad] = await Promise.allSettled([read("a"), read("bad")]);
  expect(good).toMatchObject({ value: "row a" });
  expect(bad).toMatchObject({ reason: { message: "damaged" } });
});
