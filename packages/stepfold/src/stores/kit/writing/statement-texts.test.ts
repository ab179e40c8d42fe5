import { describe, expect, test } from "vitest";
import { LockLimit, lockLimitMark } from "../lock-limit.ts";
import { StatementTexts } from "./statement-texts.ts";

describe("texts of statements", () => {
  test("are made once for each shape", () => {
    const texts = new StatementTexts(new LockLimit(4_000));
    let made = 0;
    const of = (shape: string): string => texts.of(shape, () => `${shape} ${++made}`);
    expect([of("a"), of("b"), of("a")]).toEqual(["a 1", "b 2", "a 1"]);
  });

  test("hold the present lock limit, also after a shorter lease has lowered it", () => {
    const limit = new LockLimit(4_000);
    const texts = new StatementTexts(limit);
    const text = (): string => texts.of("a", () => `wait ${lockLimitMark}`);
    expect(text()).toBe("wait 4000");
    limit.learn(5_000);
    expect(text()).toBe("wait 2000");
    expect(text()).toBe("wait 2000");
  });

  test("are dropped when there are very many, and then made again", () => {
    const texts = new StatementTexts(new LockLimit(4_000));
    let made = 0;
    for (let index = 0; index <= 500; index++) texts.of(`shape ${index}`, () => String(++made));
    expect(texts.of("shape 500", () => String(++made))).toBe("501");
    expect(texts.of("shape 0", () => String(++made))).toBe("502");
  });
});
