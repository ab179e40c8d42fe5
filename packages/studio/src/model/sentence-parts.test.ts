import type { MarkedSentence, SentenceMark } from "stepfold/core";
import { describe, expect, it } from "vitest";
import { addressedSentence, noWorkerSentence, runningSentence, sentenceParts, withTimes } from "./sentence-parts.ts";

/** A sentence with its marks written into it: `[place ask] waits for [person ada]`. */
function marked(text: string): MarkedSentence {
  const marks: SentenceMark[] = [];
  let sentence = "";
  for (const [index, part] of text.split(/\[(place|person|handle|time) ([^\]]+)\]/).entries()) {
    if (index % 3 === 1) marks.push({ kind: part as SentenceMark["kind"], from: sentence.length, to: 0 });
    else sentence += part;
    if (index % 3 === 2) marks[marks.length - 1] = { ...marks.at(-1)!, to: sentence.length };
  }
  return { sentence, marks };
}

const shown = (sentence: MarkedSentence): string =>
  sentenceParts(sentence)
    .map(({ kind, text }) => (kind === "text" ? text : `<${kind} ${text}>`))
    .join("");

describe("sentenceParts", () => {
  it("split at the marks: places and handles are code, people are emphasised, times are times", () => {
    const told = marked(
      '[place ask] waits for [person ada], until [time 2026-01-31T09:00:00.000Z], and then leaves by [handle "timeout"].',
    );
    expect(shown(told)).toBe("<code ask> waits for <name ada>, until <time 2026-01-31T09:00:00.000Z>, and then leaves by <code timeout>.");
    expect(sentenceParts(told)[4]).toEqual({ kind: "time", text: "2026-01-31T09:00:00.000Z", at: Date.UTC(2026, 0, 31, 9) });
  });

  it("leave what is quoted as it is", () => {
    expect(shown(marked("Failed at [place b]: boom <b>bold</b> at b, 2026-01-31T09:00:00.000Z"))).toBe(
      "Failed at <code b>: boom <b>bold</b> at b, 2026-01-31T09:00:00.000Z",
    );
  });

  it("lose nothing of a sentence whose marks are wrong", () => {
    const marks = [
      { kind: "place", from: 4, to: 2 },
      { kind: "place", from: 0, to: 1 },
      { kind: "person", from: 0, to: 3 },
      { kind: "time", from: 2, to: 3 },
      { kind: "place", from: 3, to: 99 },
    ] as const;
    expect(shown({ sentence: "abcd", marks })).toBe("<code a>bcd");
  });
});

describe("sentences about places", () => {
  it("begin with the address", () => {
    const { sentence, marks } = marked("waits for an answer from [person ada]");
    expect(shown(addressedSentence({ address: "pack[3]/ask", sentence, marks }))).toBe(
      "<code pack[3]/ask> waits for an answer from <name ada>.",
    );
  });

  it("say that a step runs if a process holds the execution", () => {
    expect(shown(runningSentence(marked("[place charge] is ready to run (attempt 2). It fails by [time 2026-01-31T09:00:00.000Z].")))).toBe(
      "<code charge> runs (attempt 2). It fails by <time 2026-01-31T09:00:00.000Z>.",
    );
    expect(shown(runningSentence(marked("Will fail at [place a]: b is ready to run: [place ask] is ready to go on.")))).toBe(
      "Will fail at <code a>: b is ready to run: <code ask> goes on.",
    );
    const limited = "[place a] is ready to run, as soon as its rate limit allows: at most 1 start.";
    expect(runningSentence(marked(limited))).toEqual(marked(limited));
  });

  it("say since when no worker can run it, and take nothing else of that for a time", () => {
    const reason = 'Workflow "pack" cannot run: /nodes/0/type: unknown node type "2026-01-31T09:00:00.000Z".';
    expect(shown(noWorkerSentence(`Since 2026-01-31T00:00:00.000Z no living worker can run it: ${reason}`))).toBe(
      `Since <time 2026-01-31T00:00:00.000Z> no living worker can run it: ${reason}`,
    );
    expect(shown(noWorkerSentence('No living worker takes the task queue "2026-01-31T00:00:00.000Z".'))).toBe(
      'No living worker takes the task queue "2026-01-31T00:00:00.000Z".',
    );
  });

  it("have their times, if nothing is quoted", () => {
    expect(shown(withTimes("Run 3 since 2026-01-31T00:00:00.000Z, restarted twice."))).toBe(
      "Run 3 since <time 2026-01-31T00:00:00.000Z>, restarted twice.",
    );
  });
});
