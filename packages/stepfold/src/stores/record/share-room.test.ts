import { describe, expect, it } from "vitest";
import { shareRoom } from "./share-room.ts";

/** Plenty, or so much, of both kinds. */
async function claims(limit: number, rounds: number, left = { plain: 1_000, lines: 1_000 }): Promise<string[]> {
  const rota = { isOwed: false };
  const taking = (kind: "plain" | "lines") => async (most: number) => {
    const count = Math.min(most, left[kind]);
    left[kind] -= count;
    return Array.from({ length: count }, () => kind[0]!);
  };
  const found: string[] = [];
  for (let round = 0; round < rounds; round++) found.push((await shareRoom(rota, limit, taking("plain"), taking("lines"))).join(""));
  return found;
}

describe("the room of a claim", () => {
  it("goes to both kinds by turns where there is too much of both", async () => {
    expect(await claims(1, 4)).toEqual(["p", "l", "p", "l"]);
    expect(await claims(3, 4)).toEqual(["ppp", "llp", "ppp", "llp"]);
  });

  it("goes to those without a key first where there is enough for all", async () => {
    expect(await claims(4, 2, { plain: 2, lines: 3 })).toEqual(["ppll", "l"]);
  });

  it("gives what was claimed, whatever becomes of the rest, and tells of a failure that nothing came before", async () => {
    const fails = async (): Promise<string[]> => Promise.reject(new RangeError("away"));
    expect(await shareRoom({ isOwed: false }, 3, async () => ["p"], fails)).toEqual(["p"]);
    await expect(shareRoom({ isOwed: false }, 3, fails, async () => ["l"])).rejects.toThrow("away");
    expect(await shareRoom({ isOwed: true }, 3, fails, async () => ["l"])).toEqual(["l"]);
  });

  it("is not kept for those who are not there", async () => {
    expect(await claims(2, 3, { plain: 1_000, lines: 0 })).toEqual(["pp", "pp", "pp"]);
    expect(await claims(2, 3, { plain: 0, lines: 1_000 })).toEqual(["ll", "ll", "ll"]);
  });
});
