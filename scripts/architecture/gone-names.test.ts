import { describe, expect, it } from "vitest";
import { checkGoneNames } from "./check-gone-names.ts";
import { goneNames } from "./gone-names.ts";

/** The files that are listed as exceptions, each with a name that it may contain. */
const usual = goneNames.flatMap(({ name, except = {} }) =>
  Object.keys(except).map((path) => ({ path, text: name.test("continuedAs") ? "continuedAs" : "order-1~2" })),
);
const judge = (path: string, text: string): unknown[] => checkGoneNames([...usual, { path, text }], goneNames);

describe("checkGoneNames", () => {
  it.each([
    ["import { successorOf } from './a.ts';", "successorOf"],
    ["A caller finds the last successor.", "successor"],
    ["const id = successorId(workflowId);", "successorId"],
    ["await latestOf(store, head);", "latestOf"],
    ["restartOf(store)", "restartOf"],
    ["isRestartOf(a, b)", "isRestartOf"],
    ["await (await run.latest()).cancel();", "latest()"],
    ["    latest(): Promise<Run>;", "latest()"],
    ["    readonly follow?: boolean;", "follow?:"],
    ["await run.result({ follow: false });", "{ follow"],
    ["the option `follow` stays", "`follow`"],
    ["snapshot.continuedAs", "continuedAs"],
    ['if (message.type === "continue") begin();', '"continue"'],
    ["`order-7` goes on as `order-7~2`.", "7~2"],
    ["the restart `mine~12`, later", "e~12"],
    ["`o~3` and `o~12`", "o~3"],
    ['import { latestSchedule } from "./latest-schedule.ts";', "latestSchedule"],
    ["runtime/context/latest-schedule.ts", "latest-schedule"],
  ])("finds %s", (text, found) => {
    const message = expect.stringContaining(`${found}: `) as unknown;
    expect(judge("docs/a.md", `first line\n${text}`)).toContainEqual({ rule: "gone", path: "docs/a.md", line: 2, message });
  });

  it("lets be what only looks alike", () => {
    const texts = [
      "pointers such as /a~1b/~0, #/~2",
      "0#1~3f9c2b1a",
      "~0 + version",
      "followExecution()",
      "const follow = 1;",
      "continueAs",
    ];
    for (const text of [...texts, "run.latest", "continued", "for (;;) continue;"]) expect(judge("docs/a.md", text), text).toEqual([]);
  });

  it("allows a name where it is listed, and refuses an exception that nothing uses", () => {
    expect(checkGoneNames(usual, goneNames)).toEqual([]);
    expect(checkGoneNames(usual.slice(1), goneNames)).toMatchObject([
      { path: usual[0]!.path, message: expect.stringContaining("remove it") },
    ]);
  });
});
