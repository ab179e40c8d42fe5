import { describe, expect, it } from "vitest";
import { LatestAnswer } from "./latest-answer.ts";

/** Answers when the test says so. */
function setUp() {
  const asked: { readonly question: number; readonly answer: (text: string) => void }[] = [];
  const told: string[] = [];
  const latest = new LatestAnswer<number, string>(
    (question) => new Promise((answer) => asked.push({ question, answer })),
    (answer) => told.push(answer),
  );
  return { asked, told, latest };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

describe("LatestAnswer", () => {
  it("asks one question at a time, and of those that wait only the last one", async () => {
    const { asked, told, latest } = setUp();
    for (const question of [1, 2, 3, 4]) latest.ask(question);
    expect(asked.map(({ question }) => question)).toEqual([1]);
    asked[0]!.answer("one");
    await turn();
    expect(asked.map(({ question }) => question)).toEqual([1, 4]);
    asked[1]!.answer("four");
    await turn();
    expect(told).toEqual(["one", "four"]);
    latest.ask(5);
    expect(asked).toHaveLength(3);
  });

  it("tells nothing of what was dropped", async () => {
    const { asked, told, latest } = setUp();
    latest.ask(1);
    latest.ask(2);
    latest.drop();
    asked[0]!.answer("one");
    await turn();
    expect([asked.length, told]).toEqual([1, []]);
    latest.ask(3);
    asked[1]!.answer("three");
    await turn();
    expect(told).toEqual(["three"]);
  });
});
